#include "transport/mpi/finalize.hpp"

#include <mpi.h>

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

}  // namespace plait::transport::mpi
