// A message between nodes cannot be sent while another one is awaited: the memory that this one is to fill is not
// freed.  The functions of MPI and the operators stand in for those that the libraries would take.
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

bool failing = false;
const char* awaited = nullptr;
bool freed = false;

void look_at(const void* block) {
  const auto* begin = static_cast<const char*>(block);
  if (awaited != nullptr && begin != nullptr && begin <= awaited &&
      awaited < begin + malloc_usable_size(const_cast<void*>(block)))
    freed = true;
}

}  // namespace

void operator delete(void* block) noexcept {
  look_at(block);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

int MPI_Irecv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  if (failing) awaited = static_cast<const char*>(into);
  return PMPI_Irecv(into, count, type, from, tag, comm, request);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return failing ? MPI_ERR_OTHER : PMPI_Isend(data, count, type, to, tag, comm, request);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const plait::Comm comm = plait::make_comm(MPI_COMM_WORLD);
    std::array<std::int64_t, 1> value{};
    plait::core::get_transport(comm).reduce_min(value);
    failing = rank == 1;
    plait::core::get_transport(comm).reduce_min(value);
    std::printf("nothing was reported\n");
  } catch (const plait::Error& error) {
    std::printf("reported: %s\n", error.what());
  }
  failing = false;
  if (rank == 1) std::printf("%s\n", awaited == nullptr ? "nothing was awaited" : freed ? "freed" : "kept");
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
