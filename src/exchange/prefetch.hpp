/// Prefetches memory into the caches ahead of its use, a little at a time, between other work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plait::exchange {

/// Stretches of memory that will be read soon.  They are prefetched in ascending order and as a whole, even if only a
/// part is needed: the hardware prefetcher follows ascending reads, and the translation of addresses is done ahead as
/// well.
///
/// Example: two stretches of 1000 bytes, 100 bytes apart, are joined to one of 2100 bytes or 33 lines.  Spread over 10
/// calls of tick(), each call prefetches 33 / 10 + 1 = 4 lines of 64 bytes.
class Prefetch {
 public:
  void clear() {
    stretches_.clear();
    current_ = 0;
    position_ = 0;
  }
  /// Adds a stretch of memory.
  void add(const std::byte* begin, std::int64_t bytes) { stretches_.push_back({begin, bytes}); }
  /// Distributes the stretches over this number of calls of tick().
  void spread(std::int64_t ticks) {
    std::sort(stretches_.begin(), stretches_.end(), [](const auto& x, const auto& y) { return x.begin < y.begin; });
    std::size_t count = 0;
    std::int64_t lines = 0;
    for (const Stretch& next : stretches_) {
      if (count > 0 && next.begin <= stretches_[count - 1].end() + kGap) {
        Stretch& last = stretches_[count - 1];
        last.bytes = std::max(last.bytes, next.end() - last.begin);
      } else {
        stretches_[count++] = next;
      }
    }
    stretches_.resize(count);
    for (const Stretch& stretch : stretches_) lines += stretch.bytes / kLine + 1;
    quota_ = (lines / std::max<std::int64_t>(ticks, 1) + 1) * kLine;
  }
  /// Prefetches the next lines.
  void tick() {
    for (std::int64_t left = quota_; left > 0 && current_ < stretches_.size();) {
      const Stretch& stretch = stretches_[current_];
      const std::int64_t stop = std::min(stretch.bytes, position_ + left);
      left -= stop - position_;
      for (; position_ < stop; position_ += kLine) __builtin_prefetch(stretch.begin + position_, 0, 2);
      if (position_ >= stretch.bytes) {
        ++current_;
        position_ = 0;
      }
    }
  }

 private:
  static constexpr std::int64_t kLine = 64;
  static constexpr std::int64_t kGap = 256;  // stretches that are at most this far apart are joined
  struct Stretch {
    const std::byte* begin;
    std::int64_t bytes;
    const std::byte* end() const { return begin + bytes; }
  };
  std::vector<Stretch> stretches_;
  std::size_t current_ = 0;    // index of the current stretch
  std::int64_t position_ = 0;  // bytes of the current stretch that are prefetched
  std::int64_t quota_ = 0;     // bytes for each call of tick()
};

}  // namespace plait::exchange
