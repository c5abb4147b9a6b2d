/// Structures of options, which begin with their size, and lists of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/errors.hpp"
#include "handle.hpp"
#include "plait/layout.hpp"

namespace plait::c {

/// Returns the caller's options in this library's version of the structure. Members that the caller does not pass are
/// 0.
/// errors  kArgument: a size that no version has had, members of a later version that are not 0.
template <typename Options>
Options copy_options(const Options* options, const char* type) {
  Options result{};
  if (options == nullptr) return result;
  std::size_t size = 0;
  std::memcpy(&size, options, sizeof size);
  constexpr std::size_t kMax = 4096;  // no version is larger, so such a size was never set
  if (size < sizeof(Options) || size > kMax)
    base::throw_argument_error("the size in ", type, " is ", size, "; set it to sizeof(", type, "), which is ",
                               sizeof(Options));
  const auto* bytes = reinterpret_cast<const unsigned char*>(options);
  if (std::any_of(bytes + sizeof(Options), bytes + size, [](unsigned char byte) { return byte != 0; }))
    base::throw_argument_error(type, " has members that Plait ", plait_version(), " does not know; set them to 0");
  std::memcpy(&result, options, sizeof(Options));
  return result;
}

/// Returns `count` numbers at `numbers`, one for each dimension.
inline Extents to_extents(const std::int64_t* numbers, int count, const char* name) {
  if (count < 0 || count > kMaxDimensions)
    base::throw_argument_error(name, " has ", count, " dimensions; there may be 0 to ", kMaxDimensions);
  if (count == 0) return {};
  const std::int64_t* first = &dereference(numbers, name, "one number for each dimension");
  return {first, first + count};
}

}  // namespace plait::c
