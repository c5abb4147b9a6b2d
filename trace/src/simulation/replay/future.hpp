/// The future uses of cache blocks, for policies that look ahead in a replay.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/cache/block_table.hpp"
#include "simulation/replay/request_cursor.hpp"

namespace plait::simulation {

/// Predicts the next use of each block. The constructor numbers all uses of blocks in their recorded order. In the
/// replay, programs may proceed in another order. The next use of a block is therefore taken to be the lowest-numbered
/// one that its program has not made yet. With one program this is exact.
/// cost    O(1) a use, and O(log programs) a request.
/// memory  13 bytes a use, 12 a request, 50 to 80 a block.
/// errors  kArgument: more than 2^32 - 2 blocks.
class Future {
 public:
  /// aggregate  see RequestCursor
  /// block      bytes of a block
  Future(const Recording& recording, std::int64_t aggregate, std::int64_t block);

  /// True if a request uses blocks of the cache.
  static bool uses_cache(const Request& request) noexcept {
    const bool transfer = request.kind == trace::Kind::kRead || request.kind == trace::Kind::kWrite;
    return transfer && request.length > 0 && !request.direct;
  }
  /// Marks the uses of the program's next request that uses the cache.
  void mark_next_request(std::uint32_t program);
  /// Number of the next use of a block; kNever: there is none.
  std::int64_t next_use(BlockKey key);

 private:
  struct RequestUses {
    std::int64_t first = 0;  // number of the first use
    std::uint32_t count = 0;
  };
  struct Program {
    std::vector<RequestUses> requests;
    std::size_t marked_requests = 0;
  };
  void add_request(std::uint32_t program, const Request& request);
  void add_use(BlockKey key);

  std::int64_t block_;
  BlockTable numbers_;                          // the number of each block
  std::vector<std::int64_t> first_future_use_;  // first use of each block that may be in the future
  std::vector<std::int64_t> last_use_;          // last use of each block so far, while uses are numbered
  std::vector<std::int64_t> next_use_;          // for each use, the next use of the same block
  std::vector<bool> is_past_;                   // for each use, true if it has happened
  std::vector<Program> programs_;
};

}  // namespace plait::simulation
