// The begin and the end of the primitives.
//
// The first primitive initialises MPI unless the program has done so. At the end of a program that did not, the ranks
// agree that all have ended before MPI_Finalize is called. Otherwise a rank that fails early would leave the others
// waiting in it. Example: rank 1 exits with status 3, and the others call pclose. Rank 1 leaves without MPI_Finalize,
// and the launcher ends the job.

#include "primitives1993/runtime.hpp"

#include <mpi.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "collective/broadcast.hpp"
#include "collective/collective.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"
#include "core/file/impl.hpp"
#include "plait/error.hpp"
#include "plait/mpi.hpp"
#include "transport/ending.hpp"
#include "transport/local/job.hpp"
#include "transport/transport.hpp"

namespace plait::primitives {

namespace {

// MPI_Finalize frees the runtime, not the end of the process, because it contains objects of MPI.
std::unique_ptr<Runtime>& instance() {
  static auto* const holder = new std::unique_ptr<Runtime>;
  return *holder;
}

std::string& untold() {
  static auto* const text = new std::string;
  return *text;
}

/// A forked child owns nothing that its parent's primitives opened.
bool is_owner() { return !instance() || instance()->owner.here(); }

void let_go() noexcept {
  if (!is_owner()) return;
  tell_now();
  std::unique_ptr<Runtime> state = std::move(instance());
  if (!state) return;
  for (const auto& [number, unit] : state->units)
    if (unit.status == 1 && state->comm.rank() == 0)
      std::fprintf(stderr, "plait: unit %lld (%s) was not closed, so %s; call pclose\n", static_cast<long long>(number),
                   unit.path.c_str(), unit.loss());
  state->units.clear();
}

/// Ends a program that failed. The other ranks may wait for this one in calls of any library. The launcher ends them:
/// it ends a job when a process fails without MPI_Finalize.
void leave_failed() noexcept {
  tell_now();
  if (!instance()) return;
  for (const auto& [number, unit] : instance()->units)
    if (unit.status == 1)
      std::fprintf(stderr, "plait: rank %d failed; unit %lld (%s) was not closed, so %s\n", instance()->comm.rank(),
                   static_cast<long long>(number), unit.path.c_str(), unit.loss());
  instance()->units.clear();
}

/// Ends a program whose MPI was initialised here. Ranks that are in a primitive, or call one later, get an error and
/// end as well.
void at_exit(int status, void* /*unused*/) {
  if (!is_owner()) return;
  int ended = 0;
  if (MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
  if (status != 0) {
    leave_failed();
    return;
  }
  constexpr int kMostFailures = 10000;  // maximum number of calls that the other ranks still make
  for (int failures = 0; instance(); ++failures) {
    try {
      agree(*instance(), "the end of the program", nullptr);
      break;
    } catch (const Error& error) {
      if (error.system_code() != EOWNERDEAD && failures < kMostFailures) continue;
      tell_now();
      return;  // a rank has ended without this agreement, and MPI_Finalize would wait for it
    }
  }
  MPI_Finalize();
}

/// True if the processes of this program were started together without MPI, and the program has not initialised MPI
/// itself.
bool has_job() {
  int started = 0;
  const auto job = transport::local::job_of_environment();
  return job && job->size > 1 && (MPI_Initialized(&started) != MPI_SUCCESS || started == 0);
}

void start_mpi() {
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0) {
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
      base::throw_system_error(0, "MPI cannot be initialised");
    // Unlike atexit, on_exit passes the exit status.
    if (::on_exit(at_exit, nullptr) != 0) base::throw_system_error(0, "no more can be done at the program's end");
  }
}

}  // namespace

Runtime& runtime() {
  tell_now();
  if (instance()) return *instance();
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) base::throw_system_error(0, "MPI is finalised already; call the primitives before MPI_Finalize");
  auto state = std::make_unique<Runtime>();
  if (has_job()) {
    state->comm = Comm::world();
  } else {
    start_mpi();
    state->comm = make_comm(MPI_COMM_WORLD);
  }
  [[maybe_unused]] static const bool watched = [] {
    transport::at_ending(transport::EndingStage::kFiles, let_go);
    return true;
  }();
  instance() = std::move(state);
  return *instance();
}

Runtime& started() {
  tell_now();
  if (instance()) return *instance();
  base::throw_argument_error(
      "no unit is open, no array and no grid is mapped yet; call popen, array_map or proc_map first");
}

void agree(Runtime& state, const std::string& call, const std::exception_ptr& mine) {
  core::worker_of(state.comm)->run([&] {
    const collective::Collective together(core::transport_of(state.comm), call, mine);
  });
}

void fail_together(Runtime& state, const std::exception_ptr& mine) {
  agree(state, std::string(), mine);
  std::rethrow_exception(mine);
}

std::string from_rank_0(Runtime& state, const std::string& mine) {
  std::string text;
  core::worker_of(state.comm)->run([&] { text = collective::broadcast_text(core::transport_of(state.comm), mine); });
  return text;
}

void print(const Runtime& state, const std::string& text) {
  if (state.comm.rank() != 0) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void tell_later(const std::string& text) {
  // Registered even if MPI was never initialised.
  [[maybe_unused]] static const int registered = std::atexit(tell_now);
  untold() = text;
}

void forget() { untold().clear(); }

void tell_now() noexcept {
  if (untold().empty() || !is_owner()) return;
  const std::string text = std::exchange(untold(), std::string());
  if (!instance() || instance()->comm.rank() == 0) std::fprintf(stderr, "plait: %s\n", text.c_str());
}

}  // namespace plait::primitives
