/// Distributions: how the indices of one dimension are distributed over the coordinates of grid axes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plait {

using Extents = std::vector<std::int64_t>;

/// `count` consecutive indices that belong to one coordinate.
struct OwnerRun {
  std::int64_t owner = 0;
  std::int64_t count = 0;
  bool operator==(const OwnerRun&) const = default;
};

/// The distribution of the indices of one dimension (HPF 1.1 section 3.3; HPF 2.0 section 8 for GEN_BLOCK and
/// INDIRECT). N is the number of indices, p the number of coordinates.
struct Distribution {
  enum class Kind : std::uint8_t {
    kCollapsed,  ///< `*`: not distributed; each rank has all indices and the dimension uses no grid axis
    kBlock,      ///< `block`: blocks of ceil(N/p), the last ones short or empty; `block(m)`: blocks of m, m*p >= N
    kBalanced,   ///< `balanced`: the first N mod p coordinates have one index more than the others
    kCyclic,     ///< `cyclic(k)`: blocks of k distributed round robin
    kGenBlock,   ///< `gen_block(sizes)`: consecutive blocks of the given sizes
    kIndirect,   ///< `indirect(0*3, 1*2)`: the owner of each index, run by run
  };
  Kind kind = Kind::kCollapsed;
  std::int64_t block = 0;           ///< kBlock: m, or 0 for ceil(N/p); kCyclic: k
  Extents sizes;                    ///< kGenBlock only, one for each coordinate
  std::vector<OwnerRun> owners;     ///< kIndirect only
  bool repeats = false;             ///< kIndirect: `owners` is repeated to the end of the dimension
  std::vector<int> axes;            ///< grid axes that are named, `block@(0, 1)`, major first; empty: left to right
  std::vector<Distribution> inner;  ///< `block/cyclic(2)`: each distributes the local positions of the one before it

  static Distribution collapsed() { return {}; }
  static Distribution blocked(std::int64_t m = 0) { return make(Kind::kBlock, m); }
  static Distribution balanced() { return make(Kind::kBalanced, 0); }
  static Distribution cyclic(std::int64_t k = 1) { return make(Kind::kCyclic, k); }
  static Distribution gen_block(Extents sizes) {
    Distribution result = make(Kind::kGenBlock, 0);
    result.sizes = std::move(sizes);
    return result;
  }
  static Distribution indirect(std::vector<OwnerRun> owners, bool repeats = false) {
    Distribution result = make(Kind::kIndirect, 0);
    result.owners = std::move(owners);
    result.repeats = repeats;
    return result;
  }

  bool operator==(const Distribution&) const = default;

 private:
  static Distribution make(Kind kind, std::int64_t block) {
    Distribution result;
    result.kind = kind;
    result.block = block;
    return result;
  }
};

/// Prints a distribution as HPF spells it, in lower case: `cyclic(3)`, `block@0/cyclic@1`.
std::string to_string(const Distribution& distribution);

}  // namespace plait
