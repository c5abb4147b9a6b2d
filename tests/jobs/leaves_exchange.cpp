// Rank 1 leaves the program where the others wait for a message of it, or for a broadcast between nodes.
// argv[1]: "message" or "broadcast"; argv[2]: "exit", "return", "finalize" or "starved", how it leaves; the last one
// without memory.
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

thread_local bool starved = false;

void wait(plait::transport::Transport& transport, const std::string& what) {
  std::array<std::byte, 8> bytes{};
  if (what == "message")
    transport.receive(1, bytes)->complete();
  else
    transport.broadcast_to_nodes(bytes);
  // Where this rank was not concerned, or heard before it was.
  std::array<std::int64_t, 1> value{};
  transport.reduce_min(value);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const block = starved ? nullptr : std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

int main(int count, char** words) {
  if (count != 3) return 2;
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string what = words[1];
  const std::string way = words[2];
  try {
    const plait::Comm comm = plait::make_comm(MPI_COMM_WORLD);
    plait::transport::Transport& transport = plait::core::get_transport(comm);
    std::array<std::int64_t, 1> value{};
    transport.reduce_min(value);
    std::array<std::byte, 8> bytes{};
    transport.broadcast_to_nodes(bytes);  // all ranks are there
    transport.reduce_min(value);
    if (rank == 1) {
      if (way == "exit") std::exit(3);
      starved = way == "starved";
      if (way == "finalize" || starved) MPI_Finalize();
      starved = false;
      return 0;
    }
    wait(transport, what);
    std::printf("nothing was reported\n");
  } catch (const plait::Error& error) {
    std::printf("reported: %s\n", error.what());
  }
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
