/// The lists of seven integers that the primitives take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plait/distribution.hpp"

namespace plait::primitives {

/// Arrays and grids have at most as many dimensions.
inline constexpr int kMostDimensions = 7;
/// Don't care, and the end of a list.
inline constexpr std::int64_t kNone = -1;

/// The seven entries of a caller's list in 64 bits.  Nothing behind a -1 is looked at, so that a shorter list may end.
template <typename Integer>
Extents seven(const Integer* list) {
  Extents result(kMostDimensions, kNone);
  for (int i = 0; list != nullptr && i < kMostDimensions && list[i] != -1; ++i)
    result[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(list[i]);
  return result;
}

/// The seven entries as they are, for lists in which -1 stands between others.
template <typename Integer>
Extents all_seven(const Integer* list) {
  Extents result(kMostDimensions, kNone);
  for (int i = 0; list != nullptr && i < kMostDimensions; ++i)
    result[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(list[i]);
  return result;
}

/// The list of a grid on so many ranks, with 1 for each -1 in front of a later positive entry.  Behind a -1 there may
/// be anything where the entries in front of it make up the ranks.
Extents filled_grid(const Extents& list, std::int64_t ranks);

/// The entries of a list up to its end: a -1, or zeros up to the seventh entry, which is what a static array that was
/// filled only in front holds.
/// errors  kArgument naming `what`: a zero in the middle, a negative entry.
Extents entries_of(const Extents& list, std::string_view what);

}  // namespace plait::primitives
