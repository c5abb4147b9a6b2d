// Connects to one of several addresses of a process, on the server's thread, without blocking.
//
// advance() is called by events of the socket and by timers. In each round it tries the addresses in order: begin() a
// connection, check_connected(), then the handshake (send_hello, receive). It ends with
//    kConnected   the handshake is done
//    kRefused     all addresses were tried in a round, one of them refused the connection, and none was busy
//    kUnanswered  no address has answered for kLostAfter
//    kUnable      there is no address, or no socket could be created
//
// Example: addresses A and B of another host. A does not answer: after kAttemptTimeout (4 s) B is tried, which does not
// answer either. At 9 s (kLostAfter) the attempt ends as kUnanswered. If B had refused the connection, the attempt
// would have ended as kRefused. If B had accepted the connection but not answered the hello, because its process was
// stopped, the attempt would continue.

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
  lacks_memory_ = false;
  try {
    advance(now);
  } catch (const std::bad_alloc&) {  // try again later
    lacks_memory_ = true;
    memory_lack_time_ = now;
    loop_.set_timer(next_time());
  }
}

void ConnectionAttempt::advance(Clock::time_point now) {
  if (state_ != State::kTrying) return;
  if (results_.empty()) {
    results_.resize(addresses_.size());
    answer_time_ = now;
    begin_round(now);
  }
  while (true) {
    if (socket_.number() < 0 && !is_busy_ && now - answer_time_ >= kLostAfter)
      return finish(was_refused_ ? State::kRefused : socket_created_ ? State::kUnanswered : State::kUnable);
    if (socket_.number() < 0 && address_index_ == addresses_.size()) {
      // Try all addresses before a refusal counts: an address may belong to a different host in this network.
      if ((was_refused_ && !is_busy_) || addresses_.empty())
        return finish(was_refused_ ? State::kRefused : State::kUnable);
      if (now - round_begin_ < round_time()) return loop_.set_timer(next_time());
      begin_round(now);
    }
    const Progress progress = socket_.number() < 0 ? begin(now) : handshake_ ? receive(now) : check_connected(now);
    if (progress == Progress::kConnected) return finish(State::kConnected);
    if (progress == Progress::kWait) return loop_.set_timer(next_time());
  }
}

/// Returns the minimum time between the starts of two rounds.
Clock::duration ConnectionAttempt::round_time() const {
  return !addresses_.empty() && addresses_.front().is_local() ? kLocalRound : kRound;
}

void ConnectionAttempt::begin_round(Clock::time_point now) {
  round_begin_ = now;
  address_index_ = 0;
  is_busy_ = false;
}

Clock::time_point ConnectionAttempt::next_time() const {
  if (state_ != State::kTrying) return Clock::time_point::max();
  if (lacks_memory_) return memory_lack_time_ + kRound;
  if (socket_.number() < 0) return round_begin_ + round_time();
  if (!handshake_) return std::min<Clock::time_point>(address_begin_ + kAttemptTimeout, answer_time_ + kLostAfter);
  return has_one_address() ? Clock::time_point::max() : address_begin_ + kAttemptTimeout;
}

void ConnectionAttempt::finish(State state) {
  if (watch_) {
    watch_->end(socket_.number());
    loop_.unregister(*std::exchange(watch_, std::nullopt));
  }
  state_ = state;
  on_end_(*this);
}

void ConnectionAttempt::end() {
  if (state_ != State::kTrying) return;
  if (watch_) loop_.unregister(*std::exchange(watch_, std::nullopt));
  socket_.close();
  state_ = State::kUnable;
}

ConnectionAttempt::Progress ConnectionAttempt::begin(Clock::time_point now) {
  address_begin_ = now;
  if (!watch_) watch_ = loop_.register_handler(shared_from_this());
  const Address& to = addresses_[address_index_];
  const auto* tcp = std::get_if<Address::Tcp>(&to.where);
  const base::host::LocalAddress local(tcp == nullptr ? std::get<Address::Local>(to.where).name : std::string());
  const SystemAddress remote(tcp == nullptr ? Address::Tcp{} : *tcp);
  const int family = tcp == nullptr ? AF_UNIX : remote.storage.ss_family;
  socket_ = base::Descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_.number() < 0) return give_up_address(errno, std::strerror(errno));
  socket_created_ = true;
  tcp == nullptr ? base::host::set_send_buffer(socket_.number(), 2 * kMaxStream)
                 : base::host::keep_alive(socket_.number());
  const int code = tcp == nullptr ? ::connect(socket_.number(), local.name(), local.length)
                                  : ::connect(socket_.number(), remote.name(), remote.length);
  if (code != 0 && errno == EAGAIN) {  // the backlog of a local server is full
    return give_up_address(EAGAIN, "it has more callers than it takes at a time");
  }
  if (code != 0 && errno != EINPROGRESS && errno != EINTR) return give_up_address(errno, std::strerror(errno));
  if (!watch_->begin(socket_.number(), EPOLLOUT)) return give_up_address(errno, std::strerror(errno));
  return code == 0 ? send_hello() : Progress::kWait;
}

/// Checks if the connection is established.
ConnectionAttempt::Progress ConnectionAttempt::check_connected(Clock::time_point now) {
  pollfd state{socket_.number(), POLLOUT, 0};
  if (::poll(&state, 1, 0) <= 0)
    return now < std::min(address_begin_ + kAttemptTimeout, answer_time_ + kLostAfter)
               ? Progress::kWait
               : give_up_address(ETIMEDOUT, "no answer in time");
  int code = 0;
  socklen_t size = sizeof code;
  ::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &code, &size);
  if (code != 0) return give_up_address(code, code == ECONNREFUSED ? "no process listens there" : std::strerror(code));
  return send_hello();
}

ConnectionAttempt::Progress ConnectionAttempt::send_hello() {
  try {
    handshake_.emplace(key_);
  } catch (const Error& error) {
    return give_up_address(EIO, error.what());
  }
  const auto hello = handshake_->hello();
  if (::send(socket_.number(), hello.data(), hello.size(), MSG_DONTWAIT | MSG_NOSIGNAL) != std::ssize(hello))
    return give_up_address(ECONNRESET, "the connection was closed at once");
  watch_->change(socket_.number(), EPOLLIN);
  return Progress::kWait;
}

ConnectionAttempt::Progress ConnectionAttempt::receive(Clock::time_point now) {
  while (true) {
    const auto buffer = handshake_->input_space();
    const ssize_t got = ::recv(socket_.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (has_one_address() || now - address_begin_ < kAttemptTimeout) return Progress::kWait;
      answer_time_ = now;  // the process accepted the connection, so it is not lost; it may be stopped
      return give_up_address(EAGAIN, "a program listens there, but did not answer as Plait does");
    }
    // The process answers after all: measure kLostAfter from now on. If it has ended meanwhile, the next round is
    // refused.
    if (now - address_begin_ >= kAttemptTimeout) answer_time_ = now;
    if (got < 0) return give_up_address(ECONNRESET, std::strerror(errno));
    if (got == 0) return give_up_address(ECONNRESET, "the connection was closed before both had proved who they are");
    const auto status = handshake_->process_input(static_cast<std::size_t>(got));
    if (status == ClientHandshake::Status::kMore) continue;
    // Another program has answered, for example at a private address that several hosts use: count it as a refusal.
    if (status == ClientHandshake::Status::kFailed) return give_up_address(ECONNREFUSED, handshake_->why());
    if (status == ClientHandshake::Status::kAccepted) return Progress::kConnected;
    const auto proof = handshake_->proof();
    if (::send(socket_.number(), proof.data(), proof.size(), MSG_DONTWAIT | MSG_NOSIGNAL) == std::ssize(proof))
      continue;
    return give_up_address(ECONNRESET, "the connection was closed before this end had proved anything");
  }
}

/// Records why the current address cannot be used, and continues with the next one.
ConnectionAttempt::Progress ConnectionAttempt::give_up_address(int code, const std::string& why) {
  was_refused_ = was_refused_ || code == ECONNREFUSED;
  is_busy_ = is_busy_ || code == EAGAIN;
  results_[address_index_] = why;
  if (watch_) loop_.unregister(*std::exchange(watch_, std::nullopt));
  handshake_.reset();
  socket_.close();
  ++address_index_;
  return Progress::kNext;
}

std::string ConnectionAttempt::describe_results() const {
  std::string text;
  for (std::size_t i = 0; i < results_.size(); ++i)
    text += base::text(text.empty() ? "" : "; ", addresses_[i].text(), ": ",
                       results_[i].empty() ? "not tried" : results_[i]);
  return text.empty() ? "it has no address that leads there from here" : text;
}

}  // namespace plait::transport::native
