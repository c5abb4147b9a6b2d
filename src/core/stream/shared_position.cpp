// The position that all ranks of a stream share, moved by atomic operations on one counter.
//
// A request usually costs one addition. Near the end the addition may pass the end; then the part of the range beyond
// the end is cut off, and the counter is set back. If the last request of this rank found the end, or if a request is
// so large that the sum could overflow, compare-and-swap is used instead.
//
// Example: 10 elements; the counter is 8, and two ranks request 4 each. The first addition returns 8, so this rank gets
// the elements 8 and 9, and the counter is 12. The second one returns 12, so this rank gets nothing, and the counter is
// 16. The first rank tries to replace its sum 12 by 10 and fails, because the counter is 16. The second rank replaces
// 16 by 10. Between these operations a counter above 10 means the same as 10.

#include "core/stream/shared_position.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace plait::core {

SharedPosition::SharedPosition(std::unique_ptr<transport::Counter> counter, std::int64_t end, int ranks)
    : counter_(std::move(counter)),
      end_(end),
      max_added_((std::numeric_limits<std::int64_t>::max() - end) / 2 / ranks) {}

SharedPosition::Range SharedPosition::take(std::int64_t elements) {
  elements = std::min(elements, end_);
  if (was_at_end_ || elements > max_added_) {
    std::int64_t expected = counter_->load();
    while (true) {
      was_at_end_ = expected >= end_;
      const std::int64_t count = std::min(elements, end_ - clamped(expected));
      if (count == 0) return {clamped(expected), 0};
      const std::int64_t current = counter_->compare_swap(expected, expected + count);
      if (current == expected) return {expected, count};
      expected = current;
    }
  }
  const std::int64_t first = counter_->fetch_add(elements);
  const std::int64_t count = std::min(elements, end_ - clamped(first));
  // The last rank that passed the end finds its own sum in the counter, and sets it back.
  if (first + elements > end_) counter_->compare_swap(first + elements, end_);
  was_at_end_ = first >= end_;
  return {clamped(first), count};
}

std::optional<SharedPosition::Range> SharedPosition::take_all(std::int64_t elements) {
  std::int64_t expected = counter_->load();
  while (true) {
    if (elements > end_ - clamped(expected)) return std::nullopt;
    if (elements == 0) return Range{clamped(expected), 0};
    const std::int64_t current = counter_->compare_swap(expected, expected + elements);
    if (current == expected) return Range{expected, elements};
    expected = current;
  }
}

std::int64_t SharedPosition::tell() { return clamped(counter_->load()); }

}  // namespace plait::core
