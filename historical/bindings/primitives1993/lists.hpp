/// The lists of seven integers that the primitives receive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plait/distribution.hpp"

namespace plait::primitives {

/// Maximum number of dimensions of arrays and grids.
inline constexpr int kMaxPrimitiveDimensions = 7;
/// Don't care, or the end of a list.
inline constexpr std::int64_t kNone = -1;

/// Converts the seven entries of a caller's list to 64 bits. Entries after a -1 are not read, so the list may be
/// shorter.
template <typename Integer>
Extents seven(const Integer* list) {
  Extents result(kMaxPrimitiveDimensions, kNone);
  for (int i = 0; list != nullptr && i < kMaxPrimitiveDimensions && list[i] != -1; ++i)
    result[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(list[i]);
  return result;
}

/// Converts all seven entries, for lists that may contain -1 between other entries.
template <typename Integer>
Extents all_seven(const Integer* list) {
  Extents result(kMaxPrimitiveDimensions, kNone);
  for (int i = 0; list != nullptr && i < kMaxPrimitiveDimensions; ++i)
    result[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(list[i]);
  return result;
}

/// Returns the list of a grid on `ranks` ranks, with 1 for each -1 before a later positive entry. After a -1 the
/// entries may have any values if those before it give the number of ranks.
Extents filled_grid(const Extents& list, std::int64_t ranks);

/// Returns the entries of a list up to its end: a -1, or zeros up to the seventh entry, the content of a static array
/// of which only the first entries were set.
/// errors  kArgument naming `what`: a zero in the middle, a negative entry.
Extents list_entries(const Extents& list, std::string_view what);

}  // namespace plait::primitives
