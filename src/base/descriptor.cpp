// Owns descriptors, and closes them in the child of a fork.
//
// All open Descriptors form a doubly linked list under one mutex. A handler of pthread_atfork closes every one of
// them in the child. The mutex is locked across the fork, so that the child finds a complete list: without the lock,
// another thread could be in the middle of a change.

#include "base/descriptor.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

namespace plait::base {

/// The list of all open descriptors of this process, locked while it forks.
struct OpenDescriptors {
  static std::mutex& mutex() {
    static auto* const instance = new std::mutex;  // never destroyed: it outlives static objects with descriptors
    return *instance;
  }
  static inline Descriptor* first = nullptr;

  static void before_fork() { mutex().lock(); }
  static void in_parent() { mutex().unlock(); }
  static void in_child() {
    while (first != nullptr) ::close(first->release());
    mutex().unlock();
  }
};

namespace {

[[maybe_unused]] const bool has_fork_handler =
    ::pthread_atfork(OpenDescriptors::before_fork, OpenDescriptors::in_parent, OpenDescriptors::in_child) == 0;

}  // namespace

// The mutex is locked when either of the next two functions is called.

void Descriptor::adopt(int number) {
  number_ = number;
  if (number < 0) return;
  next_ = std::exchange(OpenDescriptors::first, this);
  if (next_ != nullptr) next_->previous_ = this;
}

int Descriptor::release() {
  if (number_ < 0) return -1;
  (previous_ == nullptr ? OpenDescriptors::first : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  previous_ = nullptr;
  next_ = nullptr;
  return std::exchange(number_, -1);
}

Descriptor::Descriptor(int number) {
  const std::scoped_lock lock(OpenDescriptors::mutex());
  adopt(number);
}

Descriptor::Descriptor(Descriptor&& other) noexcept {
  const std::scoped_lock lock(OpenDescriptors::mutex());
  adopt(other.release());
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  close();
  const std::scoped_lock lock(OpenDescriptors::mutex());
  adopt(other.release());
  return *this;
}

Descriptor::~Descriptor() { close(); }

void Descriptor::close() {
  int number = -1;
  {
    const std::scoped_lock lock(OpenDescriptors::mutex());
    number = release();
  }
  if (number >= 0) ::close(number);
}

std::int64_t allow_descriptors(std::int64_t count) noexcept {
  // RLIM_INFINITY does not fit into the result, so larger limits are returned as this.
  constexpr rlim_t kMax = std::numeric_limits<std::int64_t>::max();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return count;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::max(before, std::min(static_cast<rlim_t>(count), limit.rlim_max));
  if (limit.rlim_cur != before && ::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  return static_cast<std::int64_t>(std::min(limit.rlim_cur, kMax));
}

}  // namespace plait::base
