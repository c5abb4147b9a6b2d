// Converts the pieces of one dimension into few nests of loops, called families.
//
// An intersection may have many pieces of equal length at equal distances, such as the 256 blocks of a nested
// distribution. join_sequences() replaces each sequence of equal families at equal distances on both sides by one
// family with one more loop.  It is repeated until nothing changes, so that sequences of sequences become nested loops.
//
// Example: pieces of length 1 at b = 0, 1, 3, 5 and 7, with a = b.  The pair (0, 1) is not joined, because 3 does not
// continue it.  From 1 on four pieces are 2 apart: one family with the loop (count 4, a_stride 2, b_stride 2).  Joining
// pairs first would have made (0, 1), (3, 5) and 7.

#include "exchange/families.hpp"

#include <algorithm>

namespace plait::exchange {

namespace {

bool differ_only_in_offset(const Family& x, const Family& y) {
  return x.length == y.length && x.depth == y.depth && x.loops == y.loops;
}

/// Joins each sequence of equal families at equal distances.  Two of them make a loop only if a third one continues it
/// or there are no others: pairs chosen greedily would hide longer sequences.
Families join_sequences(const Families& families) {
  Families result;
  for (std::size_t i = 0; i < families.size();) {
    const Family& first = families[i];
    std::size_t end = i + 1;
    if (first.depth < Family::kMaxLoops && end < families.size() && differ_only_in_offset(first, families[end])) {
      const std::int64_t a_stride = families[end].a - first.a;
      const std::int64_t b_stride = families[end].b - first.b;
      while (end < families.size() && differ_only_in_offset(first, families[end]) &&
             families[end].a - families[end - 1].a == a_stride && families[end].b - families[end - 1].b == b_stride)
        ++end;
      if (end - i > 2 || families.size() == 2) {
        Family family = first;
        family.loops[static_cast<std::size_t>(family.depth++)] = {static_cast<std::int64_t>(end - i), a_stride,
                                                                  b_stride};
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

Families make_families(const plan::Pieces& pieces) {
  Families result;
  result.reserve(pieces.size());
  for (const plan::Piece& piece : pieces) {
    Family family{piece.length, piece.a, piece.b, 0, {}};
    if (piece.count > 1)
      family.loops[static_cast<std::size_t>(family.depth++)] = {piece.count, piece.a_stride, piece.b_stride};
    result.push_back(family);
  }
  // Joins again as long as the number of families decreases.
  for (std::size_t before = result.size() + 1; result.size() < before && result.size() > 1;) {
    before = result.size();
    result = join_sequences(result);
  }
  // Copies advance first in the loop with the smallest target stride, so that writes are as contiguous as possible.
  for (Family& family : result)
    std::sort(family.loops.begin(), family.loops.begin() + family.depth,
              [](const Family::Loop& x, const Family::Loop& y) { return x.b_stride < y.b_stride; });
  return result;
}

}  // namespace plait::exchange
