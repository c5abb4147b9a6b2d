/// Prefetches memory ahead of its use, a little at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plait::exchange {

/// Stretches of memory that will be read soon.  They are prefetched in ascending order and as a whole, even if only a
/// part is needed: this suits the hardware's own prefetching, and it hides the translation of addresses.
///
/// Example: two stretches of 1000 bytes, 100 bytes apart, are joined to one of 2100 bytes or 33 lines.  Spread over 10
/// steps, each step prefetches 33 / 10 + 1 = 4 lines of 64 bytes.
class Prefetch {
 public:
  void clear() {
    stretches_.clear();
    at_ = 0;
    position_ = 0;
  }
  void add(const std::byte* begin, std::int64_t bytes) { stretches_.push_back({begin, bytes}); }
  /// Distributes the stretches over this number of calls of tick().
  void spread(std::int64_t ticks) {
    std::sort(stretches_.begin(), stretches_.end(), [](const auto& x, const auto& y) { return x.begin < y.begin; });
    std::size_t kept = 0;
    std::int64_t lines = 0;
    for (const Stretch& next : stretches_) {
      if (kept > 0 && next.begin <= stretches_[kept - 1].end() + kGap) {
        Stretch& last = stretches_[kept - 1];
        last.bytes = std::max(last.bytes, next.end() - last.begin);
      } else {
        stretches_[kept++] = next;
      }
    }
    stretches_.resize(kept);
    for (const Stretch& stretch : stretches_) lines += stretch.bytes / kLine + 1;
    quota_ = (lines / std::max<std::int64_t>(ticks, 1) + 1) * kLine;
  }
  void tick() {
    for (std::int64_t left = quota_; left > 0 && at_ < stretches_.size();) {
      const Stretch& stretch = stretches_[at_];
      const std::int64_t stop = std::min(stretch.bytes, position_ + left);
      left -= stop - position_;
      for (; position_ < stop; position_ += kLine) __builtin_prefetch(stretch.begin + position_, 0, 2);
      if (position_ >= stretch.bytes) {
        ++at_;
        position_ = 0;
      }
    }
  }

 private:
  static constexpr std::int64_t kLine = 64;
  static constexpr std::int64_t kGap = 256;
  struct Stretch {
    const std::byte* begin;
    std::int64_t bytes;
    const std::byte* end() const { return begin + bytes; }
  };
  std::vector<Stretch> stretches_;
  std::size_t at_ = 0;
  std::int64_t position_ = 0;
  std::int64_t quota_ = 0;
};

}  // namespace plait::exchange
