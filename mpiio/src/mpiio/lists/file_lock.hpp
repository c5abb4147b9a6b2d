/// A lock on a part of a file.
#pragma once

#include <cstdint>
#include <utility>

namespace plait::mpiio {

/// An exclusive lock of a range of bytes, by fcntl() and for an open file (F_OFD_SETLK), so that it also excludes
/// other handles of this process. It excludes only those who lock as well.
class FileLock {
 public:
  FileLock() = default;
  /// Waits up to ten seconds. The lock is not held afterwards if that is not enough, or if the file system has no locks.
  FileLock(int descriptor, std::int64_t begin, std::int64_t end);
  ~FileLock() { release(); }
  FileLock(FileLock&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), begin_(other.begin_), end_(other.end_) {}
  FileLock& operator=(FileLock&& other) noexcept {
    release();
    descriptor_ = std::exchange(other.descriptor_, -1);
    begin_ = other.begin_;
    end_ = other.end_;
    return *this;
  }
  bool is_held() const { return descriptor_ >= 0; }

 private:
  void release() noexcept;

  int descriptor_ = -1;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace plait::mpiio
