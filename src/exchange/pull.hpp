/// Fills a target out of the private memory of other processes, which the system copies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "copy/local_array.hpp"
#include "exchange/gather.hpp"
#include "transport/peer_memory.hpp"

namespace plait::exchange {

/// Arrays smaller than this are not worth the system calls.  Tests lower it.
inline std::atomic<std::int64_t> least_pulled{std::int64_t{256} << 10};

/// What one target takes from the processes of its node.
///
/// Long runs go straight into the target.  Of short ones whole stretches of the sources are copied into a small buffer,
/// and rows are put together out of it.  Nobody waits for anybody, and no memory that another core has in its caches is
/// written, which windows cost twice.
class Pull {
 public:
  /// Plans.
  /// gather  What the target takes; its sources are numbered by the ranks of their processes on the node.
  /// mine    This process's rank on the node.
  /// dense   The sources' arrays as they are without gaps, by node rank; their addresses do not matter.
  /// memory  Bytes that the buffer may have.
  Pull(Gather gather, std::size_t mine, std::span<const copy::LocalArray> dense, const copy::LocalArray& dense_target,
       std::int64_t memory);

  /// Whether what comes from this process itself is filled as well, or left to others.
  bool fills_own() const { return way_ == Way::kRows; }

  /// Whether this is better than windows, for arrays without gaps.
  bool pays() const { return way_ != Way::kNone; }
  std::int64_t buffer_bytes() const { return way_ == Way::kRows ? buffer_bytes_ : 0; }

  /// Fills the target.  Sources have the addresses that they have in their processes, and no gaps.
  /// errors  kSystem: a process has ended, or its array is gone.
  void run(std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
           const transport::PeerMemory& memory);

 private:
  enum class Way : std::uint8_t { kNone, kRuns, kRows };
  /// Rows of a target whose stretches of the sources fit into the buffer together.
  class Band;
  bool has_long_runs(std::span<const copy::LocalArray> dense, const copy::LocalArray& target) const;
  void plan_rows(const copy::LocalArray& target, std::int64_t memory);
  void pull_runs(const Share& share, const copy::LocalArray& source, const copy::LocalArray& target,
                 const transport::PeerMemory& memory) const;
  void pull_rows(std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
                 const transport::PeerMemory& memory) const;

  Gather gather_;
  std::size_t mine_;
  std::int64_t element_bytes_;
  std::vector<std::size_t> peers_;  // that give something, this process left out
  std::int64_t buffer_bytes_ = 0;
  Way way_ = Way::kNone;
};

}  // namespace plait::exchange
