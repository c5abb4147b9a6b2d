/// Sums that saturate at their maximum: a damaged trace may add up to more than 64 bits.
#pragma once

#include <concepts>
#include <cstdint>

namespace plait::trace::report {

inline void add_saturated(std::int64_t& sum, std::int64_t by) {
  if (__builtin_add_overflow(sum, by, &sum)) sum = by < 0 ? INT64_MIN : INT64_MAX;
}

/// Returns the bytes with which a candidate replaces an item that transferred `bytes`: more than twice as many.
inline std::int64_t replacement_threshold(std::int64_t bytes) {
  return bytes < INT64_MAX / 2 ? 2 * bytes + 1 : INT64_MAX;
}

template <std::floating_point Value>
void add_saturated(Value& sum, Value by) {
  sum += by;
}

template <typename Value>
Value sum_saturated(Value a, Value b) {
  add_saturated(a, b);
  return a;
}

}  // namespace plait::trace::report
