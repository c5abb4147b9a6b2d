// Chooses whether to drop a window from the caches before it is filled.
//
// Each method, plain or dropping, has a moving average of its processor time per byte, in which the newest measurement
// has the weight kNewestWeight = 1/2. Every fill measures the method that it uses. The other one is measured again
// after 64 (plain) or 16 (dropping) fills, because a virtual machine may move its cores to other processors.
//
// Example: the first fill is plain and takes 0.5 ns per byte, the second one drops and takes 0.2.  As 0.2 * 1.5 < 0.5,
// fills 3 to 65 drop; fill 66 is plain again, for a new measurement.  Had the second fill taken 0.4 ns, fills 3 to 18
// would be plain, and fill 19 would drop.

#include "access/refill.hpp"

#include <ctime>

#include "copy/cache_lines.hpp"

namespace plait::access {

namespace {

/// Smaller windows do not justify the two system calls that measure a fill.
constexpr std::int64_t kMinWindowBytes = std::int64_t{64} << 10;
/// Fills after which the unused method is measured again.  A trial of dropping costs little if dropping does not pay.
/// A trial without dropping costs much if it does.
constexpr std::int64_t kFillsBeforeDroppingTrial = 16;
constexpr std::int64_t kFillsBeforePlainTrial = 64;
/// Weight of the newest measurement.  It is large because the cores of a virtual machine may move to other processors
/// within milliseconds.
constexpr double kNewestWeight = 0.5;
/// Dropping must be faster by this factor.  The filler saves time, but the readers of the window then load it from
/// memory instead of a cache.
constexpr double kMinGain = 1.5;

/// Returns the processor time of this thread.  It excludes the work of other threads and waits for a disk.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

bool Refill::should_drop() const {
  if (plain_.last_fill == 0) return false;
  if (dropping_.last_fill == 0) return true;
  const bool is_dropping = dropping_.cost * kMinGain < plain_.cost;
  return is_dropping ? fills_ - plain_.last_fill < kFillsBeforePlainTrial
                     : fills_ - dropping_.last_fill >= kFillsBeforeDroppingTrial;
}

void Refill::learn(bool was_dropped, double seconds_per_byte) {
  FillMethod& method = was_dropped ? dropping_ : plain_;
  method.cost =
      method.last_fill == 0 ? seconds_per_byte : (1 - kNewestWeight) * method.cost + kNewestWeight * seconds_per_byte;
  method.last_fill = ++fills_;
}

void Refill::fill(std::byte* window, std::int64_t bytes, base::FunctionRef<void()> body) {
  if (bytes < kMinWindowBytes || !copy::can_drop_cache_lines()) return body();
  const bool is_dropping = should_drop();
  const double start = processor_seconds();
  if (is_dropping) copy::drop_cache_lines(window, bytes);
  body();
  learn(is_dropping, (processor_seconds() - start) / static_cast<double>(bytes));
}

Refill& refill() {
  thread_local Refill instance;
  return instance;
}

}  // namespace plait::access
