/// A lock on a part of a file.
#pragma once

#include <cstdint>
#include <utility>

namespace plait::mpiio {

/// An exclusive fcntl() lock of the bytes from `begin` to before `end`. It belongs to the open file description
/// (F_OFD_SETLK), so that it also excludes other handles of this process. It is advisory: it excludes only code that
/// locks as well.
class FileLock {
 public:
  FileLock() = default;
  /// Waits up to ten seconds. The lock is not held afterwards if others hold it longer, or if the file system does not
  /// support locks.
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
