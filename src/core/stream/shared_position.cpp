// The position that all ranks of a stream share, moved by atomic operations on one counter.
//
// A request usually costs one addition. Near the end the addition may pass the end, so the part of the range beyond it
// is cut off, and the counter is set back. Requests that found the end before, and very large ones, whose sum could
// overflow, use compare-and-swap instead.
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

SharedPosition::Stretch SharedPosition::take(std::int64_t elements) {
  elements = std::min(elements, end_);
  if (at_end_ || elements > max_added_) {
    std::int64_t seen = counter_->load();
    while (true) {
      at_end_ = seen >= end_;
      const std::int64_t taken = std::min(elements, end_ - clamped(seen));
      if (taken == 0) return {clamped(seen), 0};
      const std::int64_t found = counter_->compare_swap(seen, seen + taken);
      if (found == seen) return {seen, taken};
      seen = found;
    }
  }
  const std::int64_t first = counter_->fetch_add(elements);
  const std::int64_t taken = std::min(elements, end_ - clamped(first));
  // The last rank that passed the end finds its own sum in the counter, and sets it back.
  if (first + elements > end_) counter_->compare_swap(first + elements, end_);
  at_end_ = first >= end_;
  return {clamped(first), taken};
}

std::optional<SharedPosition::Stretch> SharedPosition::take_all(std::int64_t elements) {
  std::int64_t seen = counter_->load();
  while (true) {
    if (elements > end_ - clamped(seen)) return std::nullopt;
    if (elements == 0) return Stretch{clamped(seen), 0};
    const std::int64_t found = counter_->compare_swap(seen, seen + elements);
    if (found == seen) return Stretch{seen, elements};
    seen = found;
  }
}

std::int64_t SharedPosition::tell() { return clamped(counter_->load()); }

}  // namespace plait::core
