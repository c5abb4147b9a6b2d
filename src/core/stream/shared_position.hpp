/// The position that all ranks of a stream share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "transport/counter.hpp"

namespace plait::core {

/// Assigns each request its own range of `end` elements, first come, first served.  Never waits.
///
/// The counter may exceed the end for a moment if several ranks reach the end together.  The last of them sets it back.
/// A counter above the end means the same as one at the end.
/// threads  One at a time on each rank.
class SharedPosition {
 public:
  /// counter: counts from 0; `ranks` ranks share it.  end: number of elements in the array.
  SharedPosition(std::unique_ptr<transport::Counter> counter, std::int64_t end, int ranks);

  struct Range {
    std::int64_t first = 0;
    std::int64_t elements = 0;
  };
  /// Takes the next `elements` elements, or the remaining ones of the array.
  /// cost  One atomic operation, except at the end and for numbers near 2^63 / ranks.
  Range take(std::int64_t elements);
  /// Takes the next `elements` elements.  If fewer remain, takes nothing, and the position does not move.
  std::optional<Range> take_all(std::int64_t elements);

  /// Returns the position, at most `end`.
  std::int64_t tell();
  void seek(std::int64_t element) { counter_->store(element); }

 private:
  std::int64_t clamped(std::int64_t value) const { return value < end_ ? value : end_; }

  std::unique_ptr<transport::Counter> counter_;
  std::int64_t end_;
  std::int64_t max_added_;   // larger additions could overflow together with those of other ranks
  bool was_at_end_ = false;  // the last request found the end: load before adding
};

}  // namespace plait::core
