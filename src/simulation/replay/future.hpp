/// What the programs of a recording will use: what policies that look ahead ask in a replay.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/cache/block_table.hpp"
#include "simulation/replay/request_cursor.hpp"

namespace plait::simulation {

/// A pass over the requests before the replay numbers all uses of blocks in the order in which they were recorded.  In
/// the replay programs may come in another order; so what is ahead of a block is the first of its uses, by number, that
/// no program has made yet.  With one program that is the future itself.
/// cost    O(1) a use, and O(log programs) a request.  memory  13 bytes a use, 12 a request, 50 to 80 a block.
/// errors  kArgument: more than 2^32 - 2 blocks.
class Future {
 public:
  /// aggregate  as for RequestCursor.  block: bytes of a block.
  Future(const Recording& recording, std::int64_t aggregate, std::int64_t block);

  /// Whether a request uses blocks of the cache.
  static bool uses_cache(const Request& request) noexcept {
    const bool transfer = request.kind == trace::Kind::kRead || request.kind == trace::Kind::kWrite;
    return transfer && request.length > 0 && !request.direct;
  }
  /// A program makes the next one of its requests that use the cache.
  void make(std::uint32_t program);
  /// The number of the next use of a block; kNever: there is none.
  std::int64_t next(BlockKey key);

 private:
  struct RequestUses {
    std::int64_t first = 0;  // use
    std::uint32_t count = 0;
  };
  struct Program {
    std::vector<RequestUses> requests;
    std::size_t made = 0;
  };
  void add(std::uint32_t program, const Request& request);
  void use(BlockKey key);

  std::int64_t block_;
  BlockTable numbers_;               // of blocks
  std::vector<std::int64_t> ahead_;  // by block: its first use that may not be made yet
  std::vector<std::int64_t> last_;   // by block: while uses are numbered
  std::vector<std::int64_t> next_;   // by use: the next one of the same block
  std::vector<bool> made_;           // by use
  std::vector<Program> programs_;
};

}  // namespace plait::simulation
