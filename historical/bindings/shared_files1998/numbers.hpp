/// Sizes and offsets, which programs pass as double precision numbers.
#pragma once

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::ga {

/// The largest number up to which every whole number has a double of its own.
inline constexpr double kMaxWhole = 9007199254740992.0;

/// Reports wrong arguments, with a code that tells programs what is wrong.  errors  kArgument, always.
[[noreturn]] inline void throw_error(const std::string& message, int code = 0) {
  throw Error(ErrorKind::kArgument, message, code);
}

[[noreturn]] inline void throw_invalid_number(double number, const char* what, const char* expected) {
  std::array<char, 32> digits;
  std::snprintf(digits.data(), digits.size(), "%.17g", number);
  throw_error(base::text(what, ' ', digits.data(), ": pass ", expected), EDOM);
}

/// Converts a size or offset.
/// errors  kArgument, EDOM: not a whole number in the range.
inline std::int64_t whole(double number, const char* what) {
  if (!(number >= 0 && number <= kMaxWhole && std::floor(number) == number))
    throw_invalid_number(number, what, "a whole number from 0 to 2^53");
  return static_cast<std::int64_t>(number);
}

/// Converts a size that need not be exact: 0 if it is unknown or too large to be meaningful.
inline std::int64_t hint(double number, const char* what) {
  if (std::isnan(number)) throw_invalid_number(number, what, "a number, or -1 where it is not known");
  constexpr double kMax = 9.2e18;
  return number <= 0 || number > kMax ? 0 : static_cast<std::int64_t>(number);
}

}  // namespace plait::ga
