/// Pauses attempts after failures.
#pragma once

#include <algorithm>
#include <cstdint>

namespace plait::mpiio {

/// After each failure more than twice as many attempts are left out as after the one before, up to a limit: 2, 6, 14,
/// 30, 62. The numbers are even, so that a program which alternates between two kinds of accesses attempts both. A
/// success saves more than several failures cost, so attempts do not pause after the next 8 failures.
class Backoff {
 public:
  static constexpr std::int64_t kMaxPause = 62;

  /// Returns true if this attempt is to be made; note() must follow with its result.
  bool starts() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  void note(bool has_succeeded) {
    if (has_succeeded) {
      credit_ = kCredit;
      pause_ = 0;
    } else if (credit_ > 0) {
      --credit_;
    } else {
      pause_ = std::min(2 * pause_ + 2, kMaxPause);
    }
    left_ = pause_;
  }

 private:
  static constexpr int kCredit = 8;
  int credit_ = 0;  ///< failures after which attempts do not pause
  std::int64_t pause_ = 0;
  std::int64_t left_ = 0;  ///< attempts that are still to be left out
};

}  // namespace plait::mpiio
