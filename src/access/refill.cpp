#include "access/refill.hpp"

#include <ctime>

#include "copy/cache_lines.hpp"

namespace plait::access {

namespace {

/// Smaller windows are not worth the two system calls that measure them.
constexpr std::int64_t kLeastBytes = std::int64_t{64} << 10;
/// How often the way that is not taken is measured again.  Dropping costs little where it does not pay; not dropping
/// costs much where it does.
constexpr std::int64_t kTryDropping = 16;
constexpr std::int64_t kTryPlain = 64;
/// The share of the newest measurement: cores of a virtual machine move within milliseconds.
constexpr double kNewest = 0.5;
/// Whoever fills pays more for dropping than those who then read the window from memory and not from a cache; this
/// much has to be won for it.
constexpr double kLeastGain = 1.5;

/// Of this thread: what others compute meanwhile does not count, and neither does waiting for a disk.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

bool Refill::drops() const {
  if (plain_.last == 0) return false;
  if (dropped_.last == 0) return true;
  const bool drop = dropped_.cost * kLeastGain < plain_.cost;
  return drop ? fills_ - plain_.last < kTryPlain : fills_ - dropped_.last >= kTryDropping;
}

void Refill::learn(bool dropped, double seconds_per_byte) {
  Way& way = dropped ? dropped_ : plain_;
  way.cost = way.last == 0 ? seconds_per_byte : (1 - kNewest) * way.cost + kNewest * seconds_per_byte;
  way.last = ++fills_;
}

void Refill::fill(std::byte* window, std::int64_t bytes, base::FunctionRef<void()> body) {
  if (bytes < kLeastBytes || !copy::can_drop_cache_lines()) return body();
  const bool drop = drops();
  const double start = processor_seconds();
  if (drop) copy::drop_cache_lines(window, bytes);
  body();
  learn(drop, (processor_seconds() - start) / static_cast<double>(bytes));
}

Refill& refill() {
  thread_local Refill mine;
  return mine;
}

}  // namespace plait::access
