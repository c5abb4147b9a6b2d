// Finds the segments of long rows.
//
// Problem: Rows (rows.hpp) compiles a program, a list of runs, for a whole row. An array of one dimension is a single
// row, so its program would be as long as the row has runs.
//
// Idea: the runs of a cyclic distribution repeat after a period. If all shares repeat, one program for a segment of a
// few periods serves all segments: in each of them the target positions continue, and the positions of each source
// advance by a constant. The beginning and the end of the row, where runs may be cut, have programs of their own.
//
// Example: 1,000,000 doubles on 4 ranks from cyclic(36) to cyclic(128). The pattern repeats after lcm(144, 512) = 4608
// elements, of which each target and each source has 1152. A segment has 2 periods or 2304 elements (18 KiB), and the
// source position advances by 2304 as well. Each row of 250,000 elements has about 108 segments.

#include "exchange/row_segments.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace plait::exchange {

namespace {

constexpr std::int64_t kSegmentBytes = 16 << 10;  // minimum
constexpr std::int64_t kMinSegments = 16;         // of a row
// Maximum length of the beginning and of the end of a row, which need programs of their own, in lengths of a segment.
constexpr std::int64_t kMaxOutside = 2;

/// Returns the beginning of the period in which a piece begins.
std::int64_t first_period(const plan::Piece& piece) { return piece.b / piece.b_stride * piece.b_stride; }

/// Limits the number of segments to those in which a piece repeats as often as in the first one, and sets the advance
/// of its share (-1: not known yet). Returns false if the piece has no such repeats.
bool limit_segments(const plan::Piece& piece, RowSegments& segments, std::int64_t& advance) {
  if (piece.count == 1) {
    const bool is_before = piece.b + piece.length <= segments.begin;
    if (!is_before) segments.count = std::min(segments.count, (piece.b - segments.begin) / segments.length);
    return is_before || piece.b >= segments.begin;
  }
  const std::int64_t repeats = segments.length / piece.b_stride;
  const bool is_within_period = piece.b - first_period(piece) + piece.length <= piece.b_stride;
  const bool is_constant = advance < 0 || advance == repeats * piece.a_stride;
  if (!is_within_period || !is_constant || piece.a_stride < 0) return false;
  advance = repeats * piece.a_stride;
  const std::int64_t end = first_period(piece) + piece.count * piece.b_stride;
  segments.count = std::min(segments.count, (end - segments.begin) / segments.length);
  return true;
}

}  // namespace

std::int64_t find_period(const std::vector<Share>& shares, std::size_t fast) {
  std::int64_t period = 1;
  for (const Share& share : shares)
    for (const plan::Piece& piece : share.pieces[fast])
      if (piece.count > 1) period = std::max(period, piece.b_stride);
  for (const Share& share : shares)
    for (const plan::Piece& piece : share.pieces[fast])
      if (piece.count > 1 && period % piece.b_stride != 0) return 1;
  return period;
}

std::optional<RowSegments> find_segments(const std::vector<Share>& shares, std::size_t fast, std::int64_t row,
                                         std::int64_t element_bytes) {
  const std::int64_t period = find_period(shares, fast);
  if (period == 1 || period > row / kMinSegments) return std::nullopt;
  RowSegments segments;
  segments.length = base::ceil_divide(base::ceil_divide(kSegmentBytes, element_bytes), period) * period;
  // All pieces that repeat have begun in the first segment.
  for (const Share& share : shares)
    for (const plan::Piece& piece : share.pieces[fast])
      if (piece.count > 1)
        segments.begin = std::max(segments.begin, base::ceil_divide(first_period(piece), period) * period);
  segments.count = (row - segments.begin) / segments.length;
  for (const Share& share : shares) {
    std::int64_t advance = -1;
    for (const plan::Piece& piece : share.pieces[fast])
      if (!limit_segments(piece, segments, advance)) return std::nullopt;
    segments.advances.push_back(std::max<std::int64_t>(advance, 0));
  }
  const std::int64_t rest = row - segments.begin - segments.count * segments.length;
  if (segments.count < kMinSegments || std::max(segments.begin, rest) > kMaxOutside * segments.length)
    return std::nullopt;
  return segments;
}

}  // namespace plait::exchange
