/// Integer arithmetic on 64 bits that refuses to overflow.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace plait::base {

/// a * b.  errors  kArgument naming `what` where the product passes 2^63 - 1.
std::int64_t checked_multiply(std::int64_t a, std::int64_t b, std::string_view what);
/// a + b.  errors  as above.
std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what);
/// The product of all values, 1 where there are none; a zero anywhere gives 0, even beside factors that would overflow.
std::int64_t checked_product(std::span<const std::int64_t> values, std::string_view what);

/// a / b rounded up, for a >= 0 and b > 0.
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace plait::base
