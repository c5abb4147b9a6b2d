/// Transfers of ranges of a section between a store and dense memory.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "plan/access/access_plan.hpp"
#include "store/store.hpp"

namespace plait::access {

/// Reads and writes windows with the requests that the plan determines.
/// threads  One thread for each object.
class WindowIo {
 public:
  WindowIo(const plan::AccessPlan& plan, store::Store& store, std::int64_t data_offset)
      : plan_(plan), store_(store), data_offset_(data_offset), sieve_(static_cast<std::size_t>(plan.sieve_bytes())) {}

  /// Starts to read a range if it is contiguous in the file. Other ranges are read by finish_read().
  void start_read(plan::PositionRange range, std::byte* window);
  /// Completes the read.
  void finish_read();
  /// Writes a range.
  void write(plan::PositionRange range, const std::byte* window);

 private:
  /// Read the runs of a range directly into the window, or by reads that also cover the gaps between them.
  void read_in_batches(plan::PositionRange range, std::byte* window);
  void read_by_sieve(plan::PositionRange range, std::byte* window);

  const plan::AccessPlan& plan_;
  store::Store& store_;
  std::int64_t data_offset_;
  std::unique_ptr<store::Pending> pending_;
  plan::PositionRange range_;
  std::byte* window_ = nullptr;
  std::vector<std::byte> sieve_;
};

}  // namespace plait::access
