// Initialises and finalises MPI in programs that do not initialise it themselves.
//
// At the end of such a program the ranks agree that all have ended before MPI_Finalize is called. Otherwise a rank that
// fails early would leave the others waiting in it. Example: rank 1 exits with status 3, and the others read a file.
// Rank 1 leaves without MPI_Finalize, and the launcher ends the job.

#include "mpi_world.hpp"

#include <mpi.h>
#include <stdlib.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "collective/collective.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"
#include "plait/error.hpp"
#include "plait/mpi.hpp"
#include "transport/ending.hpp"
#include "transport/local/job.hpp"
#include "transport/transport.hpp"

namespace plait::c {

namespace {

struct World {
  const base::Owner owner;
  Comm comm;
};

/// Returns the ranks of the program, if any call has used them. MPI_Finalize frees them, not the end of the process,
/// because they contain objects of MPI.
std::unique_ptr<World>& get_instance() {
  static auto* const holder = new std::unique_ptr<World>;
  return *holder;
}

/// True unless the process is a forked child, which owns nothing of its parent.
bool is_owner() { return !get_instance() || get_instance()->owner.here(); }

void free_world() noexcept {
  if (is_owner()) get_instance().reset();
}

void (*on_failed_end)(int status) noexcept = [](int /*status*/) noexcept {};

/// Waits until all ranks have made this call. Fails on all if a rank makes another collective call instead.
void agree_on_end(const Comm& comm) {
  core::get_worker(comm)->run(
      [&] { const collective::Collective together(core::get_transport(comm), "the end of the program", nullptr); });
}

/// Ends a program whose MPI was initialised here. Ranks that are in a collective call, or make one later, get an error
/// and end as well.
void at_exit(int status, void* /*unused*/) {
  if (!is_owner()) return;
  int ended = 0;
  if (MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
  // The launcher ends a job when a process fails without MPI_Finalize, so that the other ranks do not wait for it in
  // calls of any library.
  if (status != 0) {
    on_failed_end(status);
    return;
  }
  constexpr int kMaxFailures = 10000;  // maximum number of calls that the other ranks still make
  for (int failures = 0; get_instance(); ++failures) {
    try {
      agree_on_end(get_instance()->comm);
      break;
    } catch (const Error& error) {
      if (error.system_code() != EOWNERDEAD && failures < kMaxFailures) continue;
      on_failed_end(0);
      return;  // a rank has ended without this agreement, and MPI_Finalize would wait for it
    }
  }
  MPI_Finalize();
}

/// True if the processes of this program were started together without MPI, and the program has not initialised MPI
/// itself.
bool has_job() {
  int started = 0;
  const auto job = transport::local::job_from_environment();
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

const Comm& world() {
  if (get_instance()) return get_instance()->comm;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) base::throw_system_error(0, "MPI is finalised already; ask for the ranks before MPI_Finalize");
  auto new_world = std::make_unique<World>();
  if (has_job()) {
    new_world->comm = Comm::world();
  } else {
    start_mpi();
    new_world->comm = make_comm(MPI_COMM_WORLD);
  }
  [[maybe_unused]] static const bool is_registered = [] {
    transport::at_ending(transport::EndingStage::kFiles, free_world);
    return true;
  }();
  get_instance() = std::move(new_world);
  return get_instance()->comm;
}

void set_failed_end_callback(void (*call)(int status) noexcept) { on_failed_end = call; }

}  // namespace plait::c
