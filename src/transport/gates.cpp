#include "transport/gates.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace plait::transport {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

void wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t target, Liveness& liveness) {
  const timespec quarter_second{0, 250'000'000};
  while (true) {
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(seen - target) >= 0) return;
    const long result = syscall(SYS_futex, &word, FUTEX_WAIT, seen, &quarter_second, nullptr, 0);
    if (result != 0 && static_cast<std::int32_t>(word.load(std::memory_order_acquire) - target) < 0) liveness.check();
  }
}

void Gates::raise(std::atomic<std::uint32_t>& counter, std::uint32_t by) {
  counter.fetch_add(by, std::memory_order_acq_rel);
  wake_all(counter);
}

}  // namespace plait::transport
