// Rank 1 leaves the program while the others wait for its message, or for a broadcast between nodes.
// argv[1]: "message" or "broadcast"
// argv[2]: how rank 1 leaves: "exit", "return", "finalize", or "starved", which calls MPI_Finalize without memory
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "core/comm/internals.hpp"
#include "plait/error.hpp"
#include "plait/mpi.hpp"
#include "transport/transport.hpp"

namespace {

thread_local bool has_no_memory = false;

void wait_for_rank_1(plait::transport::Transport& transport, const std::string& operation) {
  std::array<std::byte, 8> bytes{};
  if (operation == "message")
    transport.receive(1, bytes)->complete();
  else
    transport.broadcast_to_nodes(bytes);
  // A rank that the operation did not involve, or that did not yet get the error, gets it from this call.
  std::array<std::int64_t, 1> value{};
  transport.reduce_min(value);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const block = has_no_memory ? nullptr : std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string operation = argv[1];
  const std::string exit_method = argv[2];
  try {
    const plait::Comm comm = plait::make_comm(MPI_COMM_WORLD);
    plait::transport::Transport& transport = plait::core::get_transport(comm);
    std::array<std::int64_t, 1> value{};
    transport.reduce_min(value);
    std::array<std::byte, 8> bytes{};
    transport.broadcast_to_nodes(bytes);  // all ranks are there
    transport.reduce_min(value);
    if (rank == 1) {
      if (exit_method == "exit") std::exit(3);
      has_no_memory = exit_method == "starved";
      if (exit_method == "finalize" || has_no_memory) MPI_Finalize();
      has_no_memory = false;
      return 0;
    }
    wait_for_rank_1(transport, operation);
    std::printf("nothing was reported\n");
  } catch (const plait::Error& error) {
    std::printf("reported: %s\n", error.what());
  }
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
