#include "plait/index_set.hpp"

#include <algorithm>

namespace plait {

namespace {

/// Members of the endless pattern in [origin, x).
std::int64_t members_below(const IndexSet& set, std::int64_t x) {
  const std::int64_t distance = x - set.origin;
  return distance / set.stride * set.length + std::min(distance % set.stride, set.length);
}

}  // namespace

IndexSet IndexSet::range(std::int64_t begin, std::int64_t end) {
  const std::int64_t length = std::max<std::int64_t>(end - begin, 1);
  return {begin, std::max(begin, end), begin, length, length};
}

IndexSet IndexSet::blocks(std::int64_t origin, std::int64_t length, std::int64_t stride, std::int64_t end) {
  return {origin, std::max(origin, end), origin, length, stride};
}

std::int64_t IndexSet::rank_of(std::int64_t x) const { return members_below(*this, x) - members_below(*this, begin); }

bool IndexSet::contains(std::int64_t x) const { return x >= begin && x < end && (x - origin) % stride < length; }

std::int64_t IndexSet::at(std::int64_t place) const {
  const std::int64_t member = place + members_below(*this, begin);
  return origin + member / length * stride + member % length;
}

std::int64_t IndexSet::next(std::int64_t x) const {
  x = std::max(x, begin);
  if (x >= end) return end;
  const std::int64_t phase = (x - origin) % stride;
  if (phase < length) return x;
  return stride - phase < end - x ? x + (stride - phase) : end;
}

IndexSet IndexSet::clip(std::int64_t lo, std::int64_t hi) const {
  IndexSet result = *this;
  result.begin = std::max(begin, lo);
  result.end = std::max(result.begin, std::min(end, hi));
  return result;
}

std::int64_t IndexSet::runs() const {
  const std::int64_t members = size();
  if (members == 0) return 0;
  if (contiguous()) return 1;
  return (at(members - 1) - origin) / stride - (at(0) - origin) / stride + 1;
}

}  // namespace plait
