// The names of operations in traces that are barriers.
#include "simulation/replay/barriers.hpp"

#include <gtest/gtest.h>

namespace plait::simulation {
namespace {

TEST(Barriers, AreOperationsInWhichAllProcessesWait) {
  for (const char* name : {"MPI_Barrier", "MPI: MPI_Barrier", "PMPI_Allreduce", "mpi/MPI_Alltoallv comm=3",
                           "MPI_Init, MPI_Allgather(4)", "MPI_Reduce_scatter_block"})
    EXPECT_TRUE(waits_for_all(name)) << name;
  for (const char* name : {"", "MPI_", "Barrier", "MPI_Ibarrier", "MPI_Barriers", "MPI_Bcast", "MPI_Reduce",
                           "XMPI_Barrier", "MPI_Allgatherv_init", "MPI_File_write_all", "OMPI_Barrier"})
    EXPECT_FALSE(waits_for_all(name)) << name;
}

}  // namespace
}  // namespace plait::simulation
