/// Lets attempts pause that have had no success.
#pragma once

#include <algorithm>
#include <cstdint>

namespace plait::mpiio {

/// After each failure twice as many attempts are left out as after the one before, up to a limit.
class Backoff {
 public:
  /// Returns true if this attempt is to be made; note() must follow with its result.
  bool starts() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  void note(bool has_succeeded) {
    pause_ = has_succeeded ? 0 : std::min(2 * pause_ + 1, kMaxPause);
    left_ = pause_;
  }

 private:
  static constexpr std::int64_t kMaxPause = 63;
  std::int64_t pause_ = 0;
  std::int64_t left_ = 0;
};

}  // namespace plait::mpiio
