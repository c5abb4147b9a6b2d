#include "mpiio/lists/file_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace plait::mpiio {

bool FileDescriptor::open(const std::string& path, bool is_read_only) {
  close();
  number_ = ::open(path.c_str(), (is_read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  return is_open();
}

void FileDescriptor::close() {
  if (is_open()) ::close(std::exchange(number_, -1));
}

}  // namespace plait::mpiio
