#include "transport/native/active/connection_attempt.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/host/sockets.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "transport/native/retry_policy.hpp"

namespace plait::transport::native {

void ConnectionAttempt::go_on(Clock::time_point now) {
  const auto self = shared_from_this();
  lacking_ = false;
  try {
    try_on(now);
  } catch (const std::bad_alloc&) {  // memory may be available again soon
    lacking_ = true;
    last_ = now;
    loop_.set_timer(next());
  }
}

void ConnectionAttempt::try_on(Clock::time_point now) {
  if (state_ != State::kTrying) return;
  if (found_.empty()) {
    found_.resize(addresses_.size());
    first_ = now;
    begin_round(now);
  }
  while (true) {
    if (socket_.number() < 0 && !taken_ && now - first_ >= kLostAfter)
      return finish(refused_ ? State::kRefused : tried_ ? State::kUnanswered : State::kUnable);
    if (socket_.number() < 0 && at_ == addresses_.size()) {
      // An address of that host may belong to a different host here, so a refusal need not come from the process.
      if ((refused_ && !taken_) || addresses_.empty()) return finish(refused_ ? State::kRefused : State::kUnable);
      if (now - round_ < pause()) return loop_.set_timer(next());
      begin_round(now);
    }
    const Progress progress = socket_.number() < 0 ? begin(now) : handshake_ ? receive(now) : look(now);
    if (progress == Progress::kThere) return finish(State::kThere);
    if (progress == Progress::kWait) return loop_.set_timer(next());
  }
}

Clock::duration ConnectionAttempt::pause() const {
  return !addresses_.empty() && addresses_.front().local() ? kLocalRound : kRound;
}

void ConnectionAttempt::begin_round(Clock::time_point now) {
  round_ = now;
  at_ = 0;
  taken_ = false;
}

Clock::time_point ConnectionAttempt::next() const {
  if (state_ != State::kTrying) return Clock::time_point::max();
  if (lacking_) return last_ + kRound;
  if (socket_.number() < 0) return round_ + pause();
  if (!handshake_) return std::min<Clock::time_point>(begun_ + kAttemptTimeout, first_ + kLostAfter);
  return only() ? Clock::time_point::max() : begun_ + kAttemptTimeout;
}

void ConnectionAttempt::finish(State state) {
  if (watch_) {
    watch_->end(socket_.number());
    loop_.forget(*std::exchange(watch_, std::nullopt));
  }
  state_ = state;
  changed_(*this);
}

void ConnectionAttempt::end() {
  if (state_ != State::kTrying) return;
  if (watch_) loop_.forget(*std::exchange(watch_, std::nullopt));
  socket_.close();
  state_ = State::kUnable;
}

ConnectionAttempt::Progress ConnectionAttempt::begin(Clock::time_point now) {
  begun_ = now;
  if (!watch_) watch_ = loop_.handle(shared_from_this());
  const Address& to = addresses_[at_];
  const auto* tcp = std::get_if<Address::Tcp>(&to.where);
  const base::host::LocalAddress local(tcp == nullptr ? std::get<Address::Local>(to.where).name : std::string());
  const SystemAddress remote(tcp == nullptr ? Address::Tcp{} : *tcp);
  const int family = tcp == nullptr ? AF_UNIX : remote.storage.ss_family;
  socket_ = base::Descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_.number() < 0) return failed(errno, std::strerror(errno));
  tried_ = true;
  tcp == nullptr ? base::host::widen(socket_.number(), 2 * kMaxStream) : base::host::keep_alive(socket_.number());
  const int code = tcp == nullptr ? ::connect(socket_.number(), local.name(), local.length)
                                  : ::connect(socket_.number(), remote.name(), remote.length);
  if (code != 0 && errno == EAGAIN) {  // the backlog of a local server is full
    return failed(EAGAIN, "it has more callers than it takes at a time");
  }
  if (code != 0 && errno != EINPROGRESS && errno != EINTR) return failed(errno, std::strerror(errno));
  if (!watch_->begin(socket_.number(), EPOLLOUT)) return failed(errno, std::strerror(errno));
  return code == 0 ? greet() : Progress::kWait;
}

/// Checks if the connection is established.
ConnectionAttempt::Progress ConnectionAttempt::look(Clock::time_point now) {
  pollfd one{socket_.number(), POLLOUT, 0};
  if (::poll(&one, 1, 0) <= 0)
    return now < std::min(begun_ + kAttemptTimeout, first_ + kLostAfter) ? Progress::kWait
                                                                         : failed(ETIMEDOUT, "no answer in time");
  int code = 0;
  socklen_t size = sizeof code;
  ::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &code, &size);
  if (code != 0) return failed(code, code == ECONNREFUSED ? "nobody listens there" : std::strerror(code));
  return greet();
}

ConnectionAttempt::Progress ConnectionAttempt::greet() {
  try {
    handshake_.emplace(key_);
  } catch (const Error& error) {
    return failed(EIO, error.what());
  }
  const auto hello = handshake_->hello();
  if (::send(socket_.number(), hello.data(), hello.size(), MSG_DONTWAIT | MSG_NOSIGNAL) != std::ssize(hello))
    return failed(ECONNRESET, "the connection was closed at once");
  watch_->change(socket_.number(), EPOLLIN);
  return Progress::kWait;
}

ConnectionAttempt::Progress ConnectionAttempt::receive(Clock::time_point now) {
  while (true) {
    const auto buffer = handshake_->input_space();
    const ssize_t got = ::recv(socket_.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (only() || now - begun_ < kAttemptTimeout) return Progress::kWait;
      first_ = now;  // a stopped process does not count as lost, however many addresses it has
      return failed(EAGAIN, "a program listens there, but did not answer as Plait does");
    }
    // If the process ends while the attempt waits for it, the next round is refused.
    if (now - begun_ >= kAttemptTimeout) first_ = now;
    if (got < 0) return failed(ECONNRESET, std::strerror(errno));
    if (got == 0) return failed(ECONNRESET, "the connection was closed before both had proved who they are");
    const auto status = handshake_->took(static_cast<std::size_t>(got));
    if (status == ClientHandshake::Status::kMore) continue;
    // Another program answers at an address that several hosts use.
    if (status == ClientHandshake::Status::kFailed) return failed(ECONNREFUSED, handshake_->why());
    if (status == ClientHandshake::Status::kAccepted) return Progress::kThere;
    const auto proof = handshake_->proof();
    if (::send(socket_.number(), proof.data(), proof.size(), MSG_DONTWAIT | MSG_NOSIGNAL) == std::ssize(proof))
      continue;
    return failed(ECONNRESET, "the connection was closed before this end had proved anything");
  }
}

ConnectionAttempt::Progress ConnectionAttempt::failed(int code, const std::string& why) {
  refused_ = refused_ || code == ECONNREFUSED;
  taken_ = taken_ || code == EAGAIN;
  found_[at_] = why;
  if (watch_) loop_.forget(*std::exchange(watch_, std::nullopt));
  handshake_.reset();
  socket_.close();
  ++at_;
  return Progress::kNext;
}

std::string ConnectionAttempt::story() const {
  std::string text;
  for (std::size_t i = 0; i < found_.size(); ++i)
    text +=
        base::text(text.empty() ? "" : "; ", addresses_[i].text(), ": ", found_[i].empty() ? "not tried" : found_[i]);
  return text.empty() ? "it has no address that leads there from here" : text;
}

}  // namespace plait::transport::native
