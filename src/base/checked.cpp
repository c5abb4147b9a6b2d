#include "base/checked.hpp"

#include <algorithm>

#include "base/errors.hpp"

namespace plait::base {

namespace {

[[noreturn]] void throw_overflow(std::string_view what, std::int64_t a, char sign, std::int64_t b) {
  throw_argument_error(what, ": ", a, ' ', sign, ' ', b, " passes 2^63 - 1; use a smaller size");
}

}  // namespace

std::int64_t checked_multiply(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw_overflow(what, a, '*', b);
  return result;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw_overflow(what, a, '+', b);
  return result;
}

std::int64_t checked_product(std::span<const std::int64_t> values, std::string_view what) {
  if (std::find(values.begin(), values.end(), 0) != values.end()) return 0;
  std::int64_t result = 1;
  for (const std::int64_t value : values) result = checked_multiply(result, value, what);
  return result;
}

}  // namespace plait::base
