#include "base/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <new>

#include "base/errors.hpp"

namespace plait::base {

namespace {

/// Number of forks between the process that loaded the library and this one. Process ids would cost a system call
/// each time, and repeat in nested name spaces. Relaxed order suffices, because it only changes while no other thread
/// exists.
std::atomic<unsigned> generation{0};
std::atomic<int> process_id{0};

void in_child() {
  generation.fetch_add(1, std::memory_order_relaxed);
  process_id.store(::getpid(), std::memory_order_relaxed);
}

/// Runs when the library is loaded, so that no fork is missed.
[[maybe_unused]] const bool has_fork_handler = [] {
  process_id.store(::getpid(), std::memory_order_relaxed);
  return ::pthread_atfork(nullptr, nullptr, in_child) == 0;
}();

struct LeakedObject {
  const void* object;
  const LeakedObject* before;
};
std::atomic<const LeakedObject*> leaked{nullptr};

}  // namespace

void leak(const void* object) noexcept {
  // Only leak detectors read this list, so no memory order is needed. Without memory, a leak is reported and nothing
  // else happens.
  auto* const entry = new (std::nothrow) LeakedObject{object, leaked.load(std::memory_order_relaxed)};
  if (entry == nullptr) return;
  while (!leaked.compare_exchange_weak(entry->before, entry, std::memory_order_relaxed)) {
  }
}

Owner::Owner() noexcept
    : generation_(generation.load(std::memory_order_relaxed)), process_(process_id.load(std::memory_order_relaxed)) {}

bool Owner::here() const noexcept { return generation_ == generation.load(std::memory_order_relaxed); }

void Owner::check(std::string_view what, std::string_view advice) const {
  if (here()) return;
  throw_argument_error(what, " belongs to process ", process_, ", and this is process ", ::getpid(),
                       ", a forked child of it; ", advice);
}

}  // namespace plait::base
