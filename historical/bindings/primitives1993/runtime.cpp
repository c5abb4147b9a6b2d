// The state of the primitives, and what happens to it when MPI or the program ends.

#include "primitives1993/runtime.hpp"

#include <mpi.h>

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
#include "core/file/file_impl.hpp"
#include "mpi_world.hpp"
#include "transport/ending.hpp"
#include "transport/transport.hpp"

namespace plait::primitives {

namespace {

// The runtime contains objects of MPI, so it must be destroyed in MPI_Finalize and not when the process exits.
std::unique_ptr<Runtime>& instance() {
  static auto* const holder = new std::unique_ptr<Runtime>;
  return *holder;
}

std::string& unreported_text() {
  static auto* const text = new std::string;
  return *text;
}

/// False in a forked child, which does not own the units that its parent opened.
bool is_owner() { return !instance() || instance()->owner.here(); }

/// Discards the units at the end of MPI. Rank 0 warns about NEW files that were not closed.
void release_units() noexcept {
  if (!is_owner()) return;
  report_now();
  std::unique_ptr<Runtime> state = std::move(instance());
  if (!state) return;
  for (const auto& [number, unit] : state->units)
    if (unit.status == 1 && state->comm.rank() == 0)
      std::fprintf(stderr, "plait: unit %lld (%s) was not closed, so %s; call pclose\n", static_cast<long long>(number),
                   unit.path.c_str(), unit.loss());
  state->units.clear();
}

/// Reports units that are still open when a program ends with a failure, without MPI_Finalize.
void on_failed_end(int status) noexcept {
  if (!is_owner()) return;
  report_now();
  if (status == 0 || !instance()) return;
  for (const auto& [number, unit] : instance()->units)
    if (unit.status == 1)
      std::fprintf(stderr, "plait: rank %d failed; unit %lld (%s) was not closed, so %s\n", instance()->comm.rank(),
                   static_cast<long long>(number), unit.path.c_str(), unit.loss());
  instance()->units.clear();
}

}  // namespace

Runtime& runtime() {
  report_now();
  if (instance()) return *instance();
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) base::throw_system_error(0, "MPI is finalised already; call the primitives before MPI_Finalize");
  auto state = std::make_unique<Runtime>();
  state->comm = c::world();
  c::set_failed_end_callback(on_failed_end);
  [[maybe_unused]] static const bool watched = [] {
    transport::at_ending(transport::EndingStage::kFiles, release_units);
    return true;
  }();
  instance() = std::move(state);
  return *instance();
}

Runtime& existing_runtime() {
  report_now();
  if (instance()) return *instance();
  base::throw_argument_error(
      "no unit is open, no array and no grid is mapped yet; call popen, array_map or proc_map first");
}

void agree(Runtime& state, const std::string& call, const std::exception_ptr& error) {
  core::get_worker(state.comm)->run([&] {
    const collective::Collective agreement(core::get_transport(state.comm), call, error);
  });
}

void fail_together(Runtime& state, const std::exception_ptr& error) {
  agree(state, std::string(), error);
  std::rethrow_exception(error);
}

std::string broadcast_from_rank_0(Runtime& state, const std::string& own_text) {
  std::string text;
  core::get_worker(state.comm)->run([&] {
    text = collective::broadcast_text(core::get_transport(state.comm), own_text);
  });
  return text;
}

void print(const Runtime& state, const std::string& text) {
  if (state.comm.rank() != 0) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void report_later(const std::string& text) {
  // Registered even if MPI was never initialised.
  [[maybe_unused]] static const int registered = std::atexit(report_now);
  unreported_text() = text;
}

void discard_unreported() { unreported_text().clear(); }

void report_now() noexcept {
  if (unreported_text().empty() || !is_owner()) return;
  const std::string text = std::exchange(unreported_text(), std::string());
  if (!instance() || instance()->comm.rank() == 0) std::fprintf(stderr, "plait: %s\n", text.c_str());
}

}  // namespace plait::primitives
