#include "transport/mpi/forked.hpp"

#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "base/errors.hpp"

namespace plait::transport::mpi {

namespace {

/// The process that had MPI running when it forked this one; 0 if there is none.
std::atomic<int> mpi_process{0};
bool mpi_runs_at_fork = false;  // for the fork that is under way

void before_fork() {
  int started = 0;
  int ended = 0;
  mpi_runs_at_fork = MPI_Initialized(&started) == MPI_SUCCESS && started != 0 && MPI_Finalized(&ended) == MPI_SUCCESS &&
                     ended == 0 && mpi_process.load() == 0;
}

void in_child() {
  if (mpi_runs_at_fork) mpi_process = ::getppid();
}

[[maybe_unused]] const bool has_fork_handlers = ::pthread_atfork(before_fork, nullptr, in_child) == 0;

}  // namespace

void check_not_forked() {
  if (const int process = mpi_process.load(); process != 0)
    base::throw_argument_error("MPI belongs to process ", process, ", and this is process ", ::getpid(),
                               ", a forked child of it; work without a communicator in this process");
}

}  // namespace plait::transport::mpi
