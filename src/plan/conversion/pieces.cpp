// The intersection of two index sets as pieces that repeat.
//
// Problem: two periodic sets may have 10^12 common indices. Their intersection is periodic too, with the least common
// multiple L of the strides, so it is described by the stretches of one period and a count.
//
// Idea: find the stretches of the first whole period (layout::CommonRuns), and give each one the number of whole
// periods and its strides on both sides. The stride on a side is the number of members of that side in one period. A
// stretch that the range cuts at its beginning, and the part after the last whole period, are separate pieces with the
// count 1.
//
// Example: 48 indices; a = cyclic(2) on 4, coordinate 0: {0, 1, 8, 9, 16, 17, ...}; b = cyclic(3) on 2, coordinate 0:
// {0-2, 6-8, 12-14, ...}. L = lcm(8, 6) = 24. In [0, 24) the common indices are 0, 1 and 8. Index 8 is at position 2 of
// a and 5 of b. A period has 6 members of a, 12 of b and 3 common ones. Two periods give two pieces:
//   length 2, count 2, a = 0 + 6t, b = 0 + 12t, common = 0 + 3t    (0, 1, 24, 25)
//   length 1, count 2, a = 2 + 6t, b = 5 + 12t, common = 2 + 3t    (8, 32)
//
// If the last stretch of a period continues in the first one of the next period, cutting at the period's beginning
// would split every run. The periods then begin after the first stretch, which becomes a piece of its own.

#include "plan/conversion/pieces.hpp"

#include <algorithm>
#include <utility>

#include "layout/index_set/common_runs.hpp"

namespace plait::plan {

namespace {

/// A stretch of common indices from index `x` on, with its positions `a` and `b` in the two sets.
struct Stretch {
  std::int64_t x;
  std::int64_t length;
  std::int64_t a;
  std::int64_t b;
};

/// Computes the intersection of two sets, once.
class Intersection {
 public:
  Intersection(const IndexSet& a, const IndexSet& b)
      : a_(a), b_(b), common_runs_(a, b), begin_(common_runs_.begin()), end_(common_runs_.end()) {}

  Pieces pieces() {
    if (begin_ >= end_) return {};
    if (a_.contiguous() && b_.contiguous()) return {{end_ - begin_, 1, begin_ - a_.begin, 0, begin_ - b_.begin}};
    std::int64_t start = begin_;
    if (cut_at_begin()) start = emit_head(start);
    if (!common_runs_.repeats() || end_ - start < common_runs_.period()) {
      for (const Stretch& s : stretches(start, end_)) emit(s, 1);
      return std::move(result_);
    }
    const std::int64_t length = common_runs_.period();
    std::vector<Stretch> period = stretches(start, start + length);
    if (period.empty()) return std::move(result_);
    if (period.size() > 1 && wraps(period)) {
      // The last stretch continues in the next period, so the periods begin after the first stretch instead.
      emit(period.front(), 1);
      start = period.front().x + stretch_span(period.front());
      if (end_ - start < length) {
        for (const Stretch& s : stretches(start, end_)) emit(s, 1);
        return std::move(result_);
      }
      period = stretches(start, start + length);
    }
    const std::int64_t count = (end_ - start) / length;
    const std::int64_t base = common_;
    const std::int64_t members_a = common_runs_.period_members_a();
    const std::int64_t members_b = common_runs_.period_members_b();
    std::int64_t in_period = 0;
    for (const Stretch& s : period) in_period += s.length;
    for (const Stretch& s : period) {
      append({s.length, count, s.a, members_a, s.b, members_b, common_, in_period});
      common_ += s.length;
    }
    common_ = base + in_period * count;
    for (const Stretch& s : stretches(start + count * length, end_)) emit(s, 1);
    return std::move(result_);
  }

 private:
  bool in_both(std::int64_t index) const { return a_.contains(index) && b_.contains(index); }

  /// True if the first stretch may be the rest of a longer one, which the next periods contain as a whole.
  bool cut_at_begin() const {
    if (!in_both(begin_)) return false;
    // If the range has a whole period, the last index of that period shows whether the stretch continues an earlier
    // one.
    const bool seen = common_runs_.repeats() && end_ - begin_ >= common_runs_.period();
    return !seen || in_both(begin_ + common_runs_.period() - 1);
  }

  /// Appends the stretch that `start` cuts off. Returns the first index after it.
  std::int64_t emit_head(std::int64_t start) {
    const std::int64_t stop = std::min({end_, a_.run_end(start), b_.run_end(start)});
    emit({start, stop - start, a_.count_below(start), b_.count_below(start)}, 1);
    return stop;
  }

  /// Returns the number of indices from the first to the last one of a stretch, including gaps that both sides share.
  std::int64_t stretch_span(const Stretch& s) const { return a_.at(s.a + s.length - 1) + 1 - s.x; }

  /// True if the last stretch of a period is adjacent, on both sides, to the first stretch of the next period.
  bool wraps(const std::vector<Stretch>& period) const {
    const Stretch& first = period.front();
    const Stretch& last = period.back();
    return last.a + last.length == first.a + common_runs_.period_members_a() &&
           last.b + last.length == first.b + common_runs_.period_members_b();
  }

  /// Returns all stretches in [from, to). No stretch crosses `from`, and to - from is at most one period.
  std::vector<Stretch> stretches(std::int64_t from, std::int64_t to) const {
    std::vector<Stretch> result;
    for (const Run& run : common_runs_.find(from, to)) {
      const std::int64_t a = a_.count_below(run.begin);
      const std::int64_t b = b_.count_below(run.begin);
      if (!result.empty() && result.back().a + result.back().length == a &&
          result.back().b + result.back().length == b) {
        result.back().length += run.length;
      } else {
        result.push_back({run.begin, run.length, a, b});
      }
    }
    return result;
  }

  /// Appends a stretch as a piece, and advances the common position past it.
  void emit(const Stretch& s, std::int64_t count) {
    append({s.length, count, s.a, 0, s.b, 0, common_, 0});
    common_ += s.length * count;
  }

  /// Appends a piece in normal form: adjacent repeats become one stretch, which is joined with the previous piece if
  /// the two are adjacent on both sides.
  void append(Piece piece) {
    if (piece.count > 1 && piece.length == piece.a_stride && piece.length == piece.b_stride) {
      piece.length *= piece.count;
      piece.count = 1;
    }
    if (piece.count == 1) piece.a_stride = piece.b_stride = piece.common_stride = 0;
    if (!result_.empty() && piece.count == 1 && result_.back().count == 1 &&
        result_.back().a + result_.back().length == piece.a && result_.back().b + result_.back().length == piece.b) {
      result_.back().length += piece.length;
      return;
    }
    result_.push_back(piece);
  }

  const IndexSet& a_;
  const IndexSet& b_;
  layout::CommonRuns common_runs_;
  std::int64_t begin_;
  std::int64_t end_;
  Pieces result_;
  std::int64_t common_ = 0;
};

/// Returns the part of the pieces whose positions on one side, in the members `position` and `stride` of a piece, are
/// in [begin, end). These positions then count from `begin`.
Pieces clip_by(const Pieces& pieces, std::int64_t begin, std::int64_t end, std::int64_t Piece::* position,
               std::int64_t Piece::* stride) {
  Pieces result;
  // Appends `length` positions from `offset` on of each of the stretches [first, first + count) of a piece.
  const auto keep = [&](Piece piece, std::int64_t first, std::int64_t count, std::int64_t offset, std::int64_t length) {
    piece.length = length;
    piece.count = count;
    piece.a += first * piece.a_stride + offset;
    piece.b += first * piece.b_stride + offset;
    piece.common += first * piece.common_stride + offset;
    piece.*position -= begin;
    if (count == 1) piece.a_stride = piece.b_stride = piece.common_stride = 0;
    result.push_back(piece);
  };
  // Appends the part of one stretch that is in [begin, end).
  const auto cut = [&](const Piece& piece, std::int64_t repeat) {
    const std::int64_t at = piece.*position + repeat * piece.*stride;
    const std::int64_t offset = std::max<std::int64_t>(begin - at, 0);
    const std::int64_t length = std::min(piece.length, end - at) - offset;
    if (length > 0) keep(piece, repeat, 1, offset, length);
  };
  for (const Piece& piece : pieces) {
    if (piece.count == 1) {
      cut(piece, 0);
      continue;
    }
    // Stretches that are completely inside stay together. A stretch that is cut at either end becomes a piece of its
    // own.
    const std::int64_t distance = piece.*stride;
    const auto first_at = [&](std::int64_t wanted) {  // the first stretch that begins at `wanted` or later
      const std::int64_t ahead = wanted - piece.*position;
      return ahead <= 0 ? 0 : std::min(piece.count, (ahead + distance - 1) / distance);
    };
    const std::int64_t first = first_at(begin);
    const std::int64_t beyond = first_at(end);
    std::int64_t last = beyond;  // stretches [first, last) end inside
    if (last > first && piece.*position + (last - 1) * distance + piece.length > end) --last;
    if (first > 0) cut(piece, first - 1);
    if (last > first) keep(piece, first, last - first, 0, piece.length);
    if (beyond > last) cut(piece, last);
  }
  return result;
}

}  // namespace

Pieces intersect(const IndexSet& a, const IndexSet& b) { return Intersection(a, b).pieces(); }

std::int64_t elements(const Pieces& pieces) {
  std::int64_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.elements();
  return sum;
}

std::int64_t runs(const Pieces& pieces) {
  std::int64_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.count;
  return sum;
}

Pieces clip(const Pieces& pieces, std::int64_t begin, std::int64_t end) {
  return clip_by(pieces, begin, end, &Piece::common, &Piece::common_stride);
}

Pieces clip_target(const Pieces& pieces, std::int64_t begin, std::int64_t end) {
  return clip_by(pieces, begin, end, &Piece::b, &Piece::b_stride);
}

}  // namespace plait::plan
