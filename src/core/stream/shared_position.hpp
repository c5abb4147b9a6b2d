/// The one position that all ranks of a stream move.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "transport/counter.hpp"

namespace plait::core {

/// Hands each request its own stretch of `end` elements, first come first served.  Waits for nobody.
///
/// The counter may be past the end for a moment, where ranks come to the end together: whoever brings it there takes it
/// back, and a counter past the end means the same as one at the end.
/// threads  One at a time on each rank.
class SharedPosition {
 public:
  /// `ranks` of them share the counter; it counts from 0.
  SharedPosition(std::unique_ptr<transport::Counter> counter, std::int64_t end, int ranks);

  struct Stretch {
    std::int64_t first = 0;
    std::int64_t elements = 0;
  };
  /// The next `elements` elements, or what is left of the array.
  /// cost  One atomic operation, except at the end and for numbers near 2^63 / ranks.
  Stretch take(std::int64_t elements);
  /// The next `elements` elements, or nothing where fewer are left: the position stays then.
  std::optional<Stretch> take_all(std::int64_t elements);

  std::int64_t tell();
  void seek(std::int64_t element) { counter_->store(element); }

 private:
  std::int64_t clamped(std::int64_t value) const { return value < end_ ? value : end_; }

  std::unique_ptr<transport::Counter> counter_;
  std::int64_t end_;
  std::int64_t most_added_;  // without fear of an overflow, whatever the others add
  bool at_end_ = false;      // the last request found nothing: look before adding
};

}  // namespace plait::core
