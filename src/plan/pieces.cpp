#include "plan/pieces.hpp"

#include <algorithm>

namespace plait::plan {

namespace {

__extension__ typedef __int128 Wide;  // products of two strides may pass 2^63

/// An index set as an endless pattern: contiguous sets have all indices, so any period fits them.
struct Pattern {
  std::int64_t origin;
  std::int64_t length;
  std::int64_t stride;

  explicit Pattern(const IndexSet& set)
      : origin(set.origin), length(set.contiguous() ? 1 : set.length), stride(set.contiguous() ? 1 : set.stride) {}
};

/// A stretch [x, x + length) of common indices with its places in both sets.
struct Stretch {
  std::int64_t x;
  std::int64_t length;
  std::int64_t a;
  std::int64_t b;
};

class Intersection {
 public:
  Intersection(const IndexSet& a, const IndexSet& b)
      : a_(a),
        b_(b),
        pattern_a_(a),
        pattern_b_(b),
        begin_(std::max(a.begin, b.begin)),
        end_(std::min(a.end, b.end)),
        congruence_(solve_congruence(pattern_a_.stride, pattern_b_.stride)) {
    const Wide period = Wide{pattern_a_.stride} / congruence_.divisor * pattern_b_.stride;
    // A period behind the end acts like any other that is too long to repeat.
    period_ = period > end_ - begin_ ? end_ - begin_ + 1 : static_cast<std::int64_t>(period);
    repeats_ = period <= end_ - begin_;
  }

  Pieces pieces() {
    if (begin_ >= end_) return {};
    std::int64_t start = begin_;
    if (a_.contains(start) && b_.contains(start)) start = emit_head(start);
    if (!repeats_ || end_ - start < period_) {
      for (const Stretch& s : stretches(start, end_)) emit(s, 1);
      return std::move(result_);
    }
    std::vector<Stretch> period = stretches(start, start + period_);
    if (period.empty()) return std::move(result_);
    if (period.size() > 1 && wraps(period)) {
      // The end of each period continues in the next one: begin the periods behind that stretch instead.
      emit(period.front(), 1);
      start = period.front().x + span_of(period.front());
      if (end_ - start < period_) {
        for (const Stretch& s : stretches(start, end_)) emit(s, 1);
        return std::move(result_);
      }
      period = stretches(start, start + period_);
    }
    const std::int64_t count = (end_ - start) / period_;
    const std::int64_t base = common_;
    std::int64_t in_period = 0;
    for (const Stretch& s : period) in_period += s.length;
    for (const Stretch& s : period) {
      append({s.length, count, s.a, period_members(pattern_a_), s.b, period_members(pattern_b_), common_, in_period});
      common_ += s.length;
    }
    common_ = base + in_period * count;
    for (const Stretch& s : stretches(start + count * period_, end_)) emit(s, 1);
    return std::move(result_);
  }

 private:
  std::int64_t period_members(const Pattern& pattern) const { return period_ / pattern.stride * pattern.length; }

  /// The stretch that `begin` cuts off; returns the first index behind it.
  std::int64_t emit_head(std::int64_t start) {
    const std::int64_t stop = std::min({end_, block_end(pattern_a_, start), block_end(pattern_b_, start)});
    emit({start, stop - start, a_.rank_of(start), b_.rank_of(start)}, 1);
    return stop;
  }

  std::int64_t block_end(const Pattern& pattern, std::int64_t x) const {
    if (pattern.stride == 1) return end_;
    const std::int64_t left = pattern.length - (x - pattern.origin) % pattern.stride;
    return left < end_ - x ? x + left : end_;
  }

  /// Number of indices from the first to behind the last one of a stretch, gaps that both sides share included.
  std::int64_t span_of(const Stretch& s) const { return a_.at(s.a + s.length - 1) + 1 - s.x; }

  bool wraps(const std::vector<Stretch>& period) const {
    const Stretch& first = period.front();
    const Stretch& last = period.back();
    return last.a + last.length == first.a + period_members(pattern_a_) &&
           last.b + last.length == first.b + period_members(pattern_b_);
  }

  /// All stretches in [from, to), where no stretch crosses `from` and to - from is at most one period.
  std::vector<Stretch> stretches(std::int64_t from, std::int64_t to) const {
    std::vector<Stretch> found;
    if (from >= to) return found;
    const std::int64_t walk = steps_of_walk(pattern_a_, pattern_b_, to - from);
    const std::int64_t walk_back = steps_of_walk(pattern_b_, pattern_a_, to - from);
    const std::int64_t solve = (pattern_a_.length + pattern_b_.length) / congruence_.divisor + 1;
    if (solve < std::min(walk, walk_back)) {
      solve_stretches(from, to, found);
    } else if (walk <= walk_back) {
      walk_stretches(pattern_a_, pattern_b_, from, to, found);
    } else {
      walk_stretches(pattern_b_, pattern_a_, from, to, found);
    }
    std::sort(found.begin(), found.end(), [](const Stretch& s, const Stretch& t) { return s.x < t.x; });
    std::vector<Stretch> merged;
    for (Stretch& s : found) {
      s.a = a_.rank_of(s.x);
      s.b = b_.rank_of(s.x);
      if (!merged.empty() && merged.back().a + merged.back().length == s.a &&
          merged.back().b + merged.back().length == s.b) {
        merged.back().length += s.length;
      } else {
        merged.push_back(s);
      }
    }
    return merged;
  }

  static std::int64_t steps_of_walk(const Pattern& outer, const Pattern& inner, std::int64_t distance) {
    if (outer.stride == 1) return inner.stride == 1 ? 1 : INT64_MAX;  // walk the blocks of the other one
    const Wide steps = Wide{distance / outer.stride + 1} * (inner.stride == 1 ? 1 : outer.length / inner.stride + 1);
    return steps > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(steps);
  }

  static void walk_stretches(const Pattern& outer, const Pattern& inner, std::int64_t from, std::int64_t to,
                             std::vector<Stretch>& found) {
    if (outer.stride == 1) {
      found.push_back({from, to - from, 0, 0});
      return;
    }
    std::int64_t x = from;
    while (x < to) {
      const std::int64_t phase = (x - outer.origin) % outer.stride;
      if (phase >= outer.length) {
        if (outer.stride - phase >= to - x) return;
        x += outer.stride - phase;
        continue;
      }
      const std::int64_t stop = outer.length - phase < to - x ? x + outer.length - phase : to;
      while (x < stop) {
        const std::int64_t inner_phase = inner.stride == 1 ? 0 : (x - inner.origin) % inner.stride;
        if (inner_phase >= inner.length) {
          x = inner.stride - inner_phase < stop - x ? x + inner.stride - inner_phase : stop;
          continue;
        }
        const std::int64_t left = inner.stride == 1 ? stop - x : inner.length - inner_phase;
        const std::int64_t length = std::min(left, stop - x);
        found.push_back({x, length, 0, 0});
        x += length;
      }
    }
  }

  /// Blocks i of a and j of b overlap where b's block begins at a distance d of -length_b < d < length_a from a's.
  void solve_stretches(std::int64_t from, std::int64_t to, std::vector<Stretch>& found) const {
    const std::int64_t g = congruence_.divisor;
    const Wide modulus = pattern_b_.stride / g;
    const Wide full_period = Wide{pattern_a_.stride} * modulus;
    const std::int64_t offset = pattern_b_.origin - pattern_a_.origin;
    // The smallest d > -length_b with d = offset modulo g.
    std::int64_t d = -pattern_b_.length + 1;
    d += ((offset - d) % g + g) % g;
    for (; d < pattern_a_.length; d += g) {
      // The block i of a with a block of b at distance d: i*stride_a = offset - d modulo stride_b.
      const Wide quotient = (Wide{(offset - d) / g} % modulus + modulus) % modulus;
      const Wide i = quotient * congruence_.inverse % modulus;
      Wide x = Wide{pattern_a_.origin} + i * pattern_a_.stride + std::max<std::int64_t>(d, 0);
      if (x < from) x += (from - x + full_period - 1) / full_period * full_period;
      if (x > from) x -= (x - from) / full_period * full_period;
      if (x >= to) continue;
      const std::int64_t length = std::min(pattern_a_.length, d + pattern_b_.length) - std::max<std::int64_t>(d, 0);
      const auto start = static_cast<std::int64_t>(x);
      found.push_back({start, std::min(length, to - start), 0, 0});
    }
  }

  void emit(const Stretch& s, std::int64_t count) {
    append({s.length, count, s.a, 0, s.b, 0, common_, 0});
    common_ += s.length * count;
  }

  void append(Piece piece) {
    if (piece.count > 1 && piece.length == piece.a_step && piece.length == piece.b_step) {
      piece.length *= piece.count;
      piece.count = 1;
    }
    if (piece.count == 1) piece.a_step = piece.b_step = piece.common_step = 0;
    if (!result_.empty() && piece.count == 1 && result_.back().count == 1 &&
        result_.back().a + result_.back().length == piece.a && result_.back().b + result_.back().length == piece.b) {
      result_.back().length += piece.length;
      return;
    }
    result_.push_back(piece);
  }

  const IndexSet& a_;
  const IndexSet& b_;
  Pattern pattern_a_;
  Pattern pattern_b_;
  std::int64_t begin_;
  std::int64_t end_;
  Congruence congruence_;
  std::int64_t period_ = 1;
  bool repeats_ = false;
  Pieces result_;
  std::int64_t common_ = 0;
};

}  // namespace

Congruence solve_congruence(std::int64_t a, std::int64_t b) {
  std::int64_t previous = a;
  std::int64_t current = b;
  std::int64_t previous_x = 1;
  std::int64_t current_x = 0;
  while (current != 0) {
    const std::int64_t quotient = previous / current;
    const std::int64_t next = previous - quotient * current;
    const std::int64_t next_x = previous_x - quotient * current_x;
    previous = current;
    current = next;
    previous_x = current_x;
    current_x = next_x;
  }
  const std::int64_t modulus = b / previous;
  return {previous, (previous_x % modulus + modulus) % modulus};
}

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
  Pieces result;
  const auto cut = [&](const Piece& piece, std::int64_t repeat) {
    const std::int64_t place = piece.common + repeat * piece.common_step;
    const std::int64_t front = std::max<std::int64_t>(begin - place, 0);
    const std::int64_t length = std::min(piece.length, end - place) - front;
    if (length <= 0) return;
    result.push_back({length, 1, piece.a + repeat * piece.a_step + front, 0, piece.b + repeat * piece.b_step + front, 0,
                      place + front - begin, 0});
  };
  for (const Piece& piece : pieces) {
    if (piece.count == 1) {
      cut(piece, 0);
      continue;
    }
    // Repeats that lie wholly inside stay together; the ones cut by either end stand alone.
    const std::int64_t step = piece.common_step;
    const auto first_at = [&](std::int64_t place) {  // the first repeat that begins at or behind `place`
      return place <= piece.common ? 0 : std::min(piece.count, (place - piece.common + step - 1) / step);
    };
    const std::int64_t first = first_at(begin);
    const std::int64_t beyond = first_at(end);
    std::int64_t last = beyond;  // repeats [first, last) end inside
    if (last > first && piece.common + (last - 1) * step + piece.length > end) --last;
    if (first > 0) cut(piece, first - 1);
    if (last > first) {
      Piece whole = piece;
      whole.a += first * piece.a_step;
      whole.b += first * piece.b_step;
      whole.common += first * step - begin;
      whole.count = last - first;
      if (whole.count == 1) whole.a_step = whole.b_step = whole.common_step = 0;
      result.push_back(whole);
    }
    if (beyond > last) cut(piece, last);
  }
  return result;
}

}  // namespace plait::plan
