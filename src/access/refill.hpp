/// Finds out how a window is filled again soonest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/function_ref.hpp"

namespace plait::access {

/// Fills windows, and drops them from the caches before where that pays.
///
/// A window that other cores have read is still in their caches when it is filled again.  Where those are not its
/// filler's, as with two processor dies or a virtual machine whose cores move, each line has to be asked back: this
/// takes five times as long as copying from the file does.  Dropping all of the window first takes half as long as the
/// copying, always.  So what each way takes of processor time is measured all along, and the better one is taken.
/// threads  One thread for each object.
class Refill {
 public:
  /// Calls `body`, which writes `bytes` at `window`.
  /// errors  What `body` throws.
  void fill(std::byte* window, std::int64_t bytes, base::FunctionRef<void()> body);

  /// Whether the next fill drops the window first: the way that has been the better one, or now and then the other, to
  /// see whether it has become better.
  bool drops() const;
  /// Learns what a fill has taken of processor time.
  void learn(bool dropped, double seconds_per_byte);

 private:
  /// One way of filling: seconds a byte, as far as is known.
  struct Way {
    double cost = 0;
    std::int64_t last = 0;  ///< the fill that was measured last
  };

  Way plain_;
  Way dropped_;
  std::int64_t fills_ = 0;
};

/// That of the calling thread, which knows what its fills before took.
Refill& refill();

}  // namespace plait::access
