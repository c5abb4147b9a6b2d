#include "mpiio/lists/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace plait::mpiio {

namespace {

int set_lock(int descriptor, short type, std::int64_t begin, std::int64_t end) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = begin;
  range.l_len = end - begin;
  return ::fcntl(descriptor, F_OFD_SETLK, &range) == 0 ? 0 : errno;
}

}  // namespace

// Does not wait in the kernel: a program that holds a lock of the whole file during its access would wait forever.
FileLock::FileLock(int descriptor, std::int64_t begin, std::int64_t end) : begin_(begin), end_(end) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  int error = 0;
  while ((error = set_lock(descriptor, F_WRLCK, begin, end)) == EAGAIN || error == EACCES || error == EINTR) {
    if (std::chrono::steady_clock::now() > limit) return;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (error == 0) descriptor_ = descriptor;
}

void FileLock::release() noexcept {
  if (const int descriptor = std::exchange(descriptor_, -1); descriptor >= 0)
    static_cast<void>(set_lock(descriptor, F_UNLCK, begin_, end_));
}

}  // namespace plait::mpiio
