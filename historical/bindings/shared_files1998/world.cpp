#include "world.hpp"

#include <mpi.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "plait/mpi.hpp"
#include "transport/mpi/finalize.hpp"

namespace plait::ga {

using transport::mpi::mpi_runs;

namespace {

using ReleaseFunction = void (*)();

bool is_finalized() {
  int ended = 0;
  return MPI_Finalized(&ended) == MPI_SUCCESS && ended != 0;
}

/// The communicator of all processes. It is this process alone before world() has made it and after MPI_Finalize.
Comm& attached_comm() {
  static auto* const comm = new Comm;
  return *comm;
}

/// Throws if a launcher has started this process with others but MPI is not initialised: the processes would share
/// nothing.
void check_alone() {
  for (const char* const name : {"PLAIT_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const processes = std::getenv(name);
    if (processes != nullptr && std::strtol(processes, nullptr, 10) > 1)
      base::throw_system_error(0, "MPI is not started in a job of ", processes, " processes; call MPI_Init first");
  }
}

ReleaseFunction& release_function() {
  static ReleaseFunction release = nullptr;
  return release;
}

/// The process that called release_at_end(). Its children own none of the files.
const base::Owner& registering_process() {
  static const base::Owner owner;
  return owner;
}

void on_finalize() {
  if (!registering_process().here()) return;
  release_function()();
  attached_comm() = Comm();
}

void at_exit() {
  if (!registering_process().here()) return;
  // If MPI still runs, this rank leaves early, and other ranks may wait for it elsewhere. So it must not wait for them
  // here.
  if (!mpi_runs()) release_function()();
}

}  // namespace

Comm world() {
  if (is_finalized()) base::throw_system_error(0, "MPI is finalised already; make files before MPI_Finalize");
  if (!mpi_runs()) {
    check_alone();
    return {};
  }
  if (!attached_comm().alone()) return attached_comm();
  int size = 1;
  if (MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS)
    base::throw_system_error(0, "MPI does not say how many processes there are");
  if (size == 1) return {};
  attached_comm() = make_comm(MPI_COMM_WORLD);
  return attached_comm();
}

void release_at_end(void (*release)()) {
  release_function() = release;
  registering_process();
  static transport::mpi::EndOfHandles end(on_finalize, at_exit);
  end.watch();
}

}  // namespace plait::ga
