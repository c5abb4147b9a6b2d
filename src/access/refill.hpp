/// Fills windows again by the faster of two methods, chosen by measurement.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/function_ref.hpp"

namespace plait::access {

/// Fills windows, and drops them from the caches first if that is faster.
///
/// A window that other cores have read is still in their caches when it is filled again.  If the filler does not share
/// these caches, as on a processor of two dies or in a virtual machine whose cores move, each line must be fetched
/// back, which takes five times as long as copying from the file.  Dropping the whole window first always takes half as
/// long as the copy.  Therefore the processor time of both methods is measured continuously, and the faster one is
/// used.
/// threads  One thread for each object.
class Refill {
 public:
  /// Calls `body`, which writes `bytes` at `window`.
  /// errors  The exceptions of `body`.
  void fill(std::byte* window, std::int64_t bytes, base::FunctionRef<void()> body);

  /// Returns true if the next fill should drop the window first. Usually selects the faster method, but from time to
  /// time the other one, to measure it again.
  bool should_drop() const;
  /// Records the processor time of a fill. was_dropped: true if the window was dropped first.
  void learn(bool was_dropped, double seconds_per_byte);

 private:
  /// The measurements of one method: its average time in seconds per byte.
  struct FillMethod {
    double cost = 0;
    std::int64_t last_fill = 0;  ///< number of the fill that was measured last; 0: none
  };

  FillMethod plain_;
  FillMethod dropping_;
  std::int64_t fills_ = 0;
};

/// Returns the object of the calling thread, with the measurements of its earlier fills.
Refill& refill();

}  // namespace plait::access
