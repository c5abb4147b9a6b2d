// Helpers of tests of the pieces of intersections: expand pieces to one entry for each common index, and check them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "oracle.hpp"
#include "plan/conversion/pieces.hpp"

namespace oracle {

using plait::plan::Piece;
using plait::plan::Pieces;

/// The position of each common index in the first set, the second set and the intersection.
using CommonIndices = std::vector<std::array<std::int64_t, 3>>;

inline CommonIndices expand(const Pieces& pieces) {
  CommonIndices result;
  for (const Piece& piece : pieces)
    for (std::int64_t t = 0; t < piece.count; ++t)
      for (std::int64_t i = 0; i < piece.length; ++i)
        result.push_back({piece.a + t * piece.a_stride + i, piece.b + t * piece.b_stride + i,
                          piece.common + t * piece.common_stride + i});
  return result;
}

inline CommonIndices by_common_position(CommonIndices indices) {
  std::sort(indices.begin(), indices.end(), [](const auto& s, const auto& t) { return s[2] < t[2]; });
  return indices;
}

/// Returns the number of maximal sequences of common indices that are consecutive in both sets.
inline std::int64_t count_runs(const CommonIndices& indices) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (i == 0 || indices[i][0] != indices[i - 1][0] + 1 || indices[i][1] != indices[i - 1][1] + 1) ++count;
  return count;
}

/// Returns the common indices of two ascending lists.
inline CommonIndices expected_pieces(const Extents& a, const Extents& b) {
  CommonIndices result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      result.push_back(
          {static_cast<std::int64_t>(i++), static_cast<std::int64_t>(j++), static_cast<std::int64_t>(result.size())});
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

/// Checks that no piece is empty, and that pieces without repeats have no strides.
inline void check_normalized(const Pieces& pieces) {
  for (const Piece& piece : pieces) {
    ASSERT_GT(piece.length, 0);
    ASSERT_GT(piece.count, 0);
    if (piece.count == 1) {
      ASSERT_TRUE(piece.a_stride == 0 && piece.b_stride == 0 && piece.common_stride == 0);
    }
  }
}

/// Checks that the first and the last repeat of each piece begin and end at the same indices in both sets, and that
/// elements() counts all elements.
inline void check_positions(const IndexSet& a, const IndexSet& b, const Pieces& pieces) {
  std::int64_t total = 0;
  for (const Piece& piece : pieces) {
    for (const std::int64_t t : {std::int64_t{0}, piece.count - 1}) {
      const std::int64_t first = a.at(piece.a + t * piece.a_stride);
      const std::int64_t last = a.at(piece.a + t * piece.a_stride + piece.length - 1);
      ASSERT_EQ(first, b.at(piece.b + t * piece.b_stride));
      ASSERT_EQ(last, b.at(piece.b + t * piece.b_stride + piece.length - 1));
      ASSERT_TRUE(a.contains(first) && b.contains(first) && a.contains(last) && b.contains(last));
    }
    total += piece.length * piece.count;
  }
  ASSERT_EQ(total, elements(pieces));
}

}  // namespace oracle
