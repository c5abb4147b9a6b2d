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

void Mailbox::request_flush(std::uint64_t peer) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return;
  try {
    requests_.peers_to_flush.push_back(peer);
  } catch (const std::bad_alloc&) {
    requests_.flush_all = true;
  }
  wake();
}

bool Mailbox::post(std::function<void()> function) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return false;
  requests_.functions.push_back(std::move(function));
  wake();
  return true;
}

void Mailbox::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  wake();
}

bool Mailbox::is_stopping() {
  const std::scoped_lock lock(mutex_);
  return stopping_;
}

/// mutex_ must be locked.
void Mailbox::wake() {
  if (std::exchange(is_woken_, true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(event_.number(), &one, sizeof one);
}

Mailbox::Requests Mailbox::take() {
  const std::scoped_lock lock(mutex_);
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(event_.number(), &count, sizeof count);
  is_woken_ = false;
  return std::exchange(requests_, {});
}

Mailbox::Requests Mailbox::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  return std::exchange(requests_, {});
}

}  // namespace plait::transport::native
