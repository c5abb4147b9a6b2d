/// Stack distances of the uses of a trace, from which the hits of LRU caches of all sizes follow.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/cache/block_table.hpp"

namespace plait::simulation {

/// Computes stack distances. The stack distance of a use is the number of distinct blocks used since the last use of
/// the same block, itself included. An LRU cache of at least that many blocks has a hit; a smaller one has a miss.
/// Source: R. L. Mattson, J. Gecsei, D. R. Slutz and I. L. Traiger, "Evaluation techniques for storage hierarchies",
/// IBM Systems Journal 9(2), 1970. The distances are counted in a tree of sums over the last uses (P. M. Fenwick, "A
/// new data structure for cumulative frequency tables", 1994), with 64 uses a word.
/// cost     O(log blocks) a use.
/// memory   about 70 to 140 bytes a distinct block, independent of the number of uses.
/// errors   kArgument: more than 2^30 distinct blocks.
/// threads  one at a time.
class StackDistances {
 public:
  StackDistances();

  /// Uses a block and returns its distance: 1 if it is the last block used; 0: it was not used before.
  std::uint32_t use(BlockKey key);
  /// Removes a block that was used, as if it had never been used.
  void remove(BlockKey key);
  std::size_t blocks() const noexcept { return table_.size(); }

 private:
  static constexpr std::uint32_t kBits = 64;

  void set(std::uint32_t time);
  void clear(std::uint32_t time);
  void add_to_sums(std::uint32_t word, std::int32_t change);
  /// Number of blocks whose last use is at `time` or before.
  std::uint32_t count_until(std::uint32_t time) const;
  /// Renumbers the last uses from 0 and makes capacity for later ones.
  void compact();

  BlockTable table_;                  // time of the last use of each block
  std::vector<BlockKey> keys_;        // the block used at each time
  std::vector<std::uint64_t> words_;  // a bit for each time: set if a block was used then and not since
  std::vector<std::uint32_t> sums_;   // Fenwick tree over the words, from index 1
  std::uint32_t now_ = 0;
};

}  // namespace plait::simulation
