#include "exchange/families.hpp"

#include <algorithm>

namespace plait::exchange {

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

}  // namespace plait::exchange
