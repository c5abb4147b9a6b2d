#include "base/files/allot.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace plait::base {

int allot(int file, std::int64_t begin, std::int64_t bytes) noexcept {
  constexpr std::int64_t kLargest = std::int64_t{64} << 20;
  constexpr std::int64_t kSmallest = std::int64_t{64} << 10;
  constexpr int kMaxAttempts = 1000;  // maximum number of attempts for one piece
  const std::int64_t end = begin + bytes;
  std::int64_t max_piece = bytes;  // everything at first: the system rejects too large requests at once
  int attempts = 0;
  while (begin < end) {
    const std::int64_t piece = std::min(max_piece, end - begin);
    const int code = ::posix_fallocate(file, begin, piece);
    if (code == EINTR && ++attempts < kMaxAttempts) {
      max_piece = std::clamp(max_piece / 2, kSmallest, kLargest);
    } else if (code != 0) {
      return code;
    } else {
      begin += piece;
      attempts = 0;
    }
  }
  return 0;
}

}  // namespace plait::base
