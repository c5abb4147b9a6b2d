// Rank 1 has done its part of a call when it leaves the program; rank 3, which leaves later, has not.  The others wait
// in that call.  For ranks of several nodes: on one node no rank is done with a call before all have come.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "core/comm/internals.hpp"
#include "plait/error.hpp"
#include "plait/mpi.hpp"
#include "transport/transport.hpp"

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const plait::Comm comm = plait::make_comm(MPI_COMM_WORLD);
    plait::transport::Transport& transport = plait::core::get_transport(comm);
    std::array<std::int64_t, 1> value{};
    std::array<std::byte, 8> bytes{};
    transport.reduce_min(value);
    if (rank == 1) transport.broadcast(bytes, 1);                                // who gives waits for nobody
    if (rank == 3) std::this_thread::sleep_for(std::chrono::milliseconds(800));  // until all have heard of rank 1
    if (rank == 1 || rank == 3) {
      MPI_Finalize();
      return 0;
    }
    transport.reduce_min(value);
    std::printf("nothing was reported\n");
  } catch (const plait::Error& error) {
    std::printf("reported: %s\n", error.what());
  }
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
