#include "transport/native/serving/mailbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/errors.hpp"

namespace plait::transport::native {

Mailbox::Mailbox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const int code = errno;
  if (event_.number() < 0) base::throw_system_error(code, "cannot make an eventfd: ", std::strerror(code));
}

void Mailbox::call(std::uint64_t peer) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return;
  try {
    pending_.calls.push_back(peer);
  } catch (const std::bad_alloc&) {
    pending_.all = true;
  }
  wake();
}

bool Mailbox::post(std::function<void()> body) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return false;
  pending_.bodies.push_back(std::move(body));
  wake();
  return true;
}

void Mailbox::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  wake();
}

bool Mailbox::stopping() {
  const std::scoped_lock lock(mutex_);
  return stopping_;
}

/// The caller holds mutex_.
void Mailbox::wake() {
  if (std::exchange(woken_, true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(event_.number(), &one, sizeof one);
}

Mailbox::Pending Mailbox::take() {
  const std::scoped_lock lock(mutex_);
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(event_.number(), &count, sizeof count);
  woken_ = false;
  return std::exchange(pending_, {});
}

Mailbox::Pending Mailbox::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  return std::exchange(pending_, {});
}

}  // namespace plait::transport::native
