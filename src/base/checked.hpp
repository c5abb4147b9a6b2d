/// Arithmetic on 64-bit integers that throws on overflow.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace plait::base {

/// Returns a * b.
/// errors  kArgument naming `what` if the product does not fit into 64 bits.
std::int64_t checked_multiply(std::int64_t a, std::int64_t b, std::string_view what);
/// Returns a + b.
/// errors  kArgument naming `what` if the sum does not fit into 64 bits.
std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what);
/// Returns the product of all values, 1 if there are none. If any value is zero the product is 0, even if other
/// factors would overflow.
std::int64_t checked_product(std::span<const std::int64_t> values, std::string_view what);

/// Returns a / b rounded up, for a >= 0 and b > 0.
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace plait::base
