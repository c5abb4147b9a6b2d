/// Divides long rows of a target into equal segments that take their elements from the sources in the same pattern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exchange/share.hpp"

namespace plait::exchange {

/// Equal segments of each row.  From one segment to the next, the elements of a share have the same positions within
/// the segment, and their positions in the source are larger by the share's advance.
struct RowSegments {
  std::int64_t begin = 0;              ///< first element of the first segment
  std::int64_t length = 0;             ///< elements of a segment
  std::int64_t count = 0;              ///< segments of a row; the rest of the row is no segment
  std::vector<std::int64_t> advances;  ///< for each share, in elements
};

/// Returns the distance, in elements of dimension `fast`, at which all runs of a row repeat; 1 if there is none.
std::int64_t find_period(const std::vector<Share>& shares, std::size_t fast);

/// Returns segments of at least 16 KiB; nullopt unless a row of `row` elements has at least 16 of them, and at most
/// twice their length before and after them.
/// cost  O(pieces of the shares).
std::optional<RowSegments> find_segments(const std::vector<Share>& shares, std::size_t fast, std::int64_t row,
                                         std::int64_t element_bytes);

}  // namespace plait::exchange
