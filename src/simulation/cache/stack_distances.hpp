/// How many blocks were used since a block was used last.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/cache/block_table.hpp"

namespace plait::simulation {

/// Stack distances: LRU finds a block in a cache of so many blocks and in any larger one, and in no smaller one.  Source:
/// R. L. Mattson, J. Gecsei, D. R. Slutz and I. L. Traiger, "Evaluation techniques for storage hierarchies", IBM Systems
/// Journal 9(2), 1970; counted in a tree of sums over the last uses (P. M. Fenwick, "A new data structure for cumulative
/// frequency tables", 1994), of 64 uses a word.
/// cost     O(log blocks) a use.  memory  about 70 to 140 bytes a distinct block, whatever the number of uses.
/// errors   kArgument: more than 2^30 distinct blocks.  threads  one at a time.
class StackDistances {
 public:
  StackDistances();

  /// Of a block that is used now: 1 where it was the last one used; 0: it was not used before.
  std::uint32_t use(BlockKey key);
  /// Takes a block out, as if it had never been used; it was.
  void forget(BlockKey key);
  std::size_t blocks() const noexcept { return table_.size(); }

 private:
  static constexpr std::uint32_t kBits = 64;

  void set(std::uint32_t time);
  void clear(std::uint32_t time);
  void add(std::uint32_t word, std::int32_t change);
  /// Blocks whose last use was then or before.
  std::uint32_t until(std::uint32_t time) const;
  /// Numbers the last uses anew from 0, with room behind them.
  void compact();

  BlockTable table_;                  // the time of the last use of each block
  std::vector<BlockKey> keys_;        // by time
  std::vector<std::uint64_t> words_;  // a bit for each time: whether a block was used then and not since
  std::vector<std::uint32_t> sums_;   // Fenwick's tree over the words, from 1
  std::uint32_t now_ = 0;
};

}  // namespace plait::simulation
