#include "transport/mpi/finalize.hpp"

#include <mpi.h>

#include <cstdlib>

#include "transport/ending.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

namespace {

int on_finalize(MPI_Comm /*communicator*/, int /*key*/, void* /*value*/, void* /*state*/) {
  run_endings();
  return MPI_SUCCESS;
}

}  // namespace

void watch_finalize() {
  static bool watched = false;
  if (watched) return;
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, nullptr), "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  check(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
  watched = true;
}

bool mpi_runs() {
  int started = 0;
  int ended = 0;
  return MPI_Initialized(&started) == MPI_SUCCESS && started != 0 && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0;
}

void EndOfHandles::watch() {
  // Registered behind the end of an MPI that Plait initialised, so that it runs while MPI still does.
  if (!exit_is_watched_) exit_is_watched_ = std::atexit(at_exit_) == 0;
  if (finalize_is_watched_ || !mpi_runs()) return;
  watch_finalize();
  at_ending(EndingStage::kFiles, at_finalize_);
  finalize_is_watched_ = true;
}

}  // namespace plait::transport::mpi
