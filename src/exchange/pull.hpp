/// Fills a target from the private memory of other processes by system calls.
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

/// Minimum bytes of an array for which system calls are faster than windows. Tests lower it.
inline std::atomic<std::int64_t> min_pulled{std::int64_t{256} << 10};

/// The elements that one target takes from the processes of its node, read by process_vm_readv (Linux).
///
/// Long runs are read directly into the target.  For short runs, whole stretches of the sources are read into a small
/// buffer, from which rows are assembled.  No process waits for another. No process writes memory that is in another
/// core's caches either; such writes make windows take twice as long.
class Pull {
 public:
  /// Plans the reads.
  /// gather The elements that the target takes; its sources are numbered by the node ranks of their processes.
  /// node_rank This process's rank on the node.
  /// dense The sources' arrays without gaps, by node rank; their addresses are not used.
  /// memory Maximum number of bytes of the buffer.
  Pull(Gather gather, std::size_t node_rank, std::span<const copy::LocalArray> dense,
       const copy::LocalArray& dense_target, std::int64_t memory);

  /// True if run() also fills the elements that come from this process.  Otherwise the caller fills them.
  bool fills_own() const { return method_ == Method::kRows; }

  /// True if run() is faster than windows for arrays without gaps.
  bool pays() const { return method_ != Method::kNone; }
  std::int64_t buffer_bytes() const { return method_ == Method::kRows ? buffer_bytes_ : 0; }

  /// Fills the target. The sources have no gaps, and their addresses are those in their own processes.
  /// errors  kSystem: a process has ended, or its array is gone.
  void run(std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
           const transport::PeerMemory& memory);

 private:
  enum class Method : std::uint8_t { kNone, kRuns, kRows };
  /// Rows of a target whose stretches of the sources fit into the buffer together.
  class Band;
  bool has_long_runs(std::span<const copy::LocalArray> dense, const copy::LocalArray& target) const;
  void plan_rows(const copy::LocalArray& target, std::int64_t memory);
  /// Reads each run of a share directly into the target (kRuns).
  void pull_runs(const Share& share, const copy::LocalArray& source, const copy::LocalArray& target,
                 const transport::PeerMemory& memory) const;
  /// Reads stretches into the buffer and assembles the target's rows from them (kRows).
  void pull_rows(std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
                 const transport::PeerMemory& memory) const;

  Gather gather_;
  std::size_t node_rank_;
  std::int64_t element_bytes_;
  std::vector<std::size_t> peers_;  // processes from which elements come, without this one
  std::int64_t buffer_bytes_ = 0;
  Method method_ = Method::kNone;
};

}  // namespace plait::exchange
