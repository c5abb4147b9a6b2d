/// Integers of 128 bits, for intermediate products and differences of 64-bit values.
#pragma once

#include <cstdint>

namespace plait::base {

__extension__ typedef __int128 Int128;

/// Return a / b rounded down, a / b rounded up, and the non-negative remainder a - b * floor(a / b); b > 0.
constexpr Int128 floor_divide(Int128 a, Int128 b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr Int128 ceil_divide(Int128 a, Int128 b) { return a / b + (a % b > 0 ? 1 : 0); }
constexpr Int128 modulo(Int128 a, Int128 b) { return a % b < 0 ? a % b + b : a % b; }

/// Returns the value, or the nearest one that fits into 64 bits.
constexpr std::int64_t saturate(Int128 value) {
  return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : static_cast<std::int64_t>(value);
}

}  // namespace plait::base
