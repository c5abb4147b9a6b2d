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
/// An entry of a list that is not used, or the end of the list.
inline constexpr std::int64_t kNone = -1;

/// Converts the seven entries of a caller's list to 64 bits. Entries after a -1 are not read, so the list may be
/// shorter.
template <typename Integer>
Extents read_list(const Integer* list) {
  Extents result(kMaxPrimitiveDimensions, kNone);
  for (int i = 0; list != nullptr && i < kMaxPrimitiveDimensions && list[i] != -1; ++i)
    result[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(list[i]);
  return result;
}

/// Converts all seven entries, for lists that may contain -1 between other entries.
template <typename Integer>
Extents read_whole_list(const Integer* list) {
  Extents result(kMaxPrimitiveDimensions, kNone);
  for (int i = 0; list != nullptr && i < kMaxPrimitiveDimensions; ++i)
    result[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(list[i]);
  return result;
}

/// Returns proc_info for `ranks` ranks, with 1 for each -1 that precedes a positive entry. Once the entries before a -1
/// multiply to the number of ranks, the entries after it are ignored.
/// Example: (2, -1, 3, -1, ...) on 6 ranks gives (2, 1, 3, -1, ...).
Extents fill_grid_list(const Extents& list, std::int64_t ranks);

/// Returns the entries of a list up to its end. The end is a -1, or zeros up to the seventh entry, as in a static array
/// of which only the first entries were set.
/// errors  kArgument naming `what`: a zero in the middle, a negative entry.
Extents list_entries(const Extents& list, std::string_view what);

}  // namespace plait::primitives
