#include "mpiio/lists/file_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace plait::mpiio {

bool FileDescriptor::open(OpenedPath& path, bool is_read_only, MPI_Comm comm) {
  close();
  number_ = ::open(path.text().c_str(), (is_read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  // Another program may have replaced the file since the ranks checked its path, on some hosts before others.
  const std::int64_t own = is_open() && path.matches(number_) ? 1 : 0;
  std::int64_t smallest = 0;
  return PMPI_Allreduce(&own, &smallest, 1, MPI_INT64_T, MPI_MIN, comm) == MPI_SUCCESS && smallest != 0;
}

void FileDescriptor::close() {
  if (is_open()) ::close(std::exchange(number_, -1));
}

}  // namespace plait::mpiio
