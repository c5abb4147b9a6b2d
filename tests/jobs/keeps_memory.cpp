// Rank 1 cannot send a message between nodes while it waits for another message: the buffer of the awaited message must
// not be freed.  This program defines MPI_Irecv, MPI_Isend and operator delete in place of those of the libraries.
#include <malloc.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "core/comm/internals.hpp"
#include "plait/error.hpp"
#include "plait/mpi.hpp"
#include "transport/transport.hpp"

namespace {

bool sends_fail = false;
const char* awaited_buffer = nullptr;
bool was_freed = false;

void record_if_awaited(const void* block) {
  const auto* begin = static_cast<const char*>(block);
  if (awaited_buffer != nullptr && begin != nullptr && begin <= awaited_buffer &&
      awaited_buffer < begin + malloc_usable_size(const_cast<void*>(block)))
    was_freed = true;
}

}  // namespace

void operator delete(void* block) noexcept {
  record_if_awaited(block);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  if (sends_fail) awaited_buffer = static_cast<const char*>(buffer);
  return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return sends_fail ? MPI_ERR_OTHER : PMPI_Isend(data, count, type, to, tag, comm, request);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const plait::Comm comm = plait::make_comm(MPI_COMM_WORLD);
    std::array<std::int64_t, 1> value{};
    plait::core::get_transport(comm).reduce_min(value);
    sends_fail = rank == 1;
    plait::core::get_transport(comm).reduce_min(value);
    std::printf("nothing was reported\n");
  } catch (const plait::Error& error) {
    std::printf("reported: %s\n", error.what());
  }
  sends_fail = false;
  if (rank == 1) std::printf("%s\n", awaited_buffer == nullptr ? "nothing was awaited" : was_freed ? "freed" : "kept");
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
