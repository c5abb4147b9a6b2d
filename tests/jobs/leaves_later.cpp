// Rank 1 finishes its part of a collective call, and leaves the program.  Rank 3 leaves later, without having entered
// that call, in which the other ranks wait.  The ranks must be on several nodes: on one node no rank finishes a call
// before all ranks have entered it.
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

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const plait::Comm comm = plait::make_comm(MPI_COMM_WORLD);
    plait::transport::Transport& transport = plait::core::get_transport(comm);
    std::array<std::int64_t, 1> value{};
    std::array<std::byte, 8> bytes{};
    transport.reduce_min(value);
    if (rank == 1) transport.broadcast(bytes, 1);                                // its root waits for no other rank
    if (rank == 3) std::this_thread::sleep_for(std::chrono::milliseconds(800));  // until all know of rank 1's exit
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
