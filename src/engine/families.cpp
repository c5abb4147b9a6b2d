#include "engine/families.hpp"

#include <algorithm>

namespace plait::engine {

namespace {

bool alike(const Family& x, const Family& y) {
  return x.length == y.length && x.depth == y.depth && x.loops == y.loops;
}

/// Joins each stretch of alike families at equal distances.  Two of them make a loop only where a third goes on or they
/// are all there is: pairs taken greedily would hide longer stretches.
Families joined(const Families& families) {
  Families result;
  for (std::size_t i = 0; i < families.size();) {
    const Family& first = families[i];
    std::size_t end = i + 1;
    if (first.depth < Family::kMostLoops && end < families.size() && alike(first, families[end])) {
      const std::int64_t a_step = families[end].a - first.a;
      const std::int64_t b_step = families[end].b - first.b;
      while (end < families.size() && alike(first, families[end]) && families[end].a - families[end - 1].a == a_step &&
             families[end].b - families[end - 1].b == b_step)
        ++end;
      if (end - i > 2 || families.size() == 2) {
        Family family = first;
        family.loops[static_cast<std::size_t>(family.depth++)] = {static_cast<std::int64_t>(end - i), a_step, b_step};
        result.push_back(family);
        i = end;
        continue;
      }
    }
    result.push_back(first);
    ++i;
  }
  return result;
}

}  // namespace

plan::Pieces clip_target(const plan::Pieces& pieces, std::int64_t begin, std::int64_t end) {
  plan::Pieces result;
  const auto cut = [&](const plan::Piece& piece, std::int64_t repeat) {
    const std::int64_t place = piece.b + repeat * piece.b_step;
    const std::int64_t front = std::max<std::int64_t>(begin - place, 0);
    const std::int64_t length = std::min(piece.length, end - place) - front;
    if (length <= 0) return;
    result.push_back({length, 1, piece.a + repeat * piece.a_step + front, 0, place + front - begin, 0, 0, 0});
  };
  for (const plan::Piece& piece : pieces) {
    if (piece.count == 1) {
      cut(piece, 0);
      continue;
    }
    // Repeats that lie wholly inside stay together; the ones cut by either end stand alone.
    const std::int64_t step = piece.b_step;
    const auto first_at = [&](std::int64_t place) {  // the first repeat that begins at or behind `place`
      return place <= piece.b ? 0 : std::min(piece.count, (place - piece.b + step - 1) / step);
    };
    const std::int64_t first = first_at(begin);
    const std::int64_t beyond = first_at(end);
    std::int64_t last = beyond;  // repeats [first, last) end inside
    if (last > first && piece.b + (last - 1) * step + piece.length > end) --last;
    if (first > 0) cut(piece, first - 1);
    if (last > first) {
      plan::Piece whole = piece;
      whole.a += first * piece.a_step;
      whole.b += first * step - begin;
      whole.count = last - first;
      if (whole.count == 1) whole.a_step = whole.b_step = 0;
      result.push_back(whole);
    }
    if (beyond > last) cut(piece, last);
  }
  return result;
}

Families families_of(const plan::Pieces& pieces) {
  Families result;
  result.reserve(pieces.size());
  for (const plan::Piece& piece : pieces) {
    Family family{piece.length, piece.a, piece.b, 0, {}};
    if (piece.count > 1)
      family.loops[static_cast<std::size_t>(family.depth++)] = {piece.count, piece.a_step, piece.b_step};
    result.push_back(family);
  }
  for (std::size_t before = result.size() + 1; result.size() < before && result.size() > 1;) {
    before = result.size();
    result = joined(result);
  }
  for (Family& family : result)
    std::sort(family.loops.begin(), family.loops.begin() + family.depth,
              [](const Family::Loop& x, const Family::Loop& y) { return x.b_step < y.b_step; });
  return result;
}

}  // namespace plait::engine
