#include "transport/native/active/connection.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "base/host/sockets.hpp"

namespace plait::transport::native {

namespace {

/// Maximum bytes sent, and maximum number of reads, in one call, so that other connections do not wait for long.
constexpr std::size_t kTurnBytes = std::size_t{4} << 20;
constexpr int kTurnReads = 16;
/// Maximum number of segments in one system call.
constexpr std::size_t kMaxParts = 24;
/// Maximum time for which leave() sends the queue.
constexpr std::chrono::milliseconds kLeaveTimeout{100};

/// The unsent parts of the first frames of a queue, for one sendmsg().
struct FrameParts {
  explicit FrameParts(FrameLine& line) {
    for (auto frame = line.begin(); frame != line.end() && count + 3 <= kMaxParts; ++frame) {
      std::size_t skip = frame->done;
      const auto add = [&](const std::byte* data, std::size_t size) {
        const std::size_t skipped = std::min(skip, size);
        skip -= skipped;
        if (size > skipped) parts[count++] = {const_cast<std::byte*>(data) + skipped, size - skipped};  // only read
      };
      add(reinterpret_cast<const std::byte*>(&frame->head), sizeof frame->head);
      add(frame->prefix.data(), frame->prefix_bytes);
      add(frame->body.data(), frame->body.size());
    }
  }
  std::array<iovec, kMaxParts> parts;
  std::size_t count = 0;
};

}  // namespace

Connection::Connection(base::Descriptor socket, bool near, const Watch& watch)
    : near_(near), watch_(watch), socket_(std::move(socket)), watched_(EPOLLIN) {
  if (watch_.begin(socket_.number(), watched_)) return;
  const int code = errno;
  base::throw_system_error(code, "cannot wait for a connection: ", std::strerror(code));
}

void Connection::send(FrameLine& frames) noexcept {
  FrameLine ended;
  {
    const std::scoped_lock lock(mutex_);
    if (socket_.number() < 0) {
      ended.splice(ended.end(), frames);
    } else {
      const bool idle = line_.empty();
      line_.splice(line_.end(), frames);
      if (idle) flush_into(ended);
    }
  }
  report(ended);
}

void Connection::flush() noexcept {
  FrameLine ended;
  {
    const std::scoped_lock lock(mutex_);
    if (socket_.number() >= 0) flush_into(ended);
  }
  report(ended);
}

bool Connection::replace_body(std::uint64_t tag, std::span<const std::byte> body) noexcept {
  const std::scoped_lock lock(mutex_);
  for (OutgoingFrame& frame : line_) {
    if (frame.head.tag != tag || frame.body.size() != body.size()) continue;
    frame.body = body;
    return true;
  }
  return false;
}

/// Sends from the queue, and moves sent frames to `ended`.  The caller holds mutex_.  On an error it shuts the socket
/// down, so that the receiving thread handles the end.
void Connection::flush_into(FrameLine& ended) {
  for (std::size_t sent = 0; !line_.empty() && sent < kTurnBytes;) {
    FrameParts unsent(line_);
    msghdr message{};
    message.msg_iov = unsent.parts.data();
    message.msg_iovlen = unsent.count;
    const ssize_t put = ::sendmsg(socket_.number(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) {
      ended.splice(ended.end(), line_);
      ::shutdown(socket_.number(), SHUT_RDWR);
    }
    if (put <= 0) break;
    sent += static_cast<std::size_t>(put);
    for (auto left = static_cast<std::size_t>(put); left > 0;) {
      OutgoingFrame& frame = line_.front();
      const std::size_t some = std::min(left, frame.bytes() - frame.done);
      frame.done += some;
      left -= some;
      if (frame.done == frame.bytes()) ended.splice(ended.end(), line_, line_.begin());
    }
  }
  update();
}

/// Registers the events that are needed now.  The caller holds mutex_.
void Connection::update() {
  // Without input, EPOLLRDHUP still reports that the peer has closed.
  const std::uint32_t events = (wants_input_ ? EPOLLIN : EPOLLRDHUP) | (line_.empty() ? 0U : EPOLLOUT);
  if (events != watched_ && watch_.change(socket_.number(), events)) watched_ = events;
}

void Connection::report(FrameLine& ended) {
  for (const OutgoingFrame& frame : ended)
    if (frame.sent) frame.sent();
}

void Connection::await(bool input) {
  const std::scoped_lock lock(mutex_);
  wants_input_ = input;
  if (socket_.number() >= 0) update();
}

Connection::ReceiveResult Connection::receive(FrameTaker& taker) {
  for (int turn = 0; turn < kTurnReads; ++turn) {
    auto buffer = input_.input_space();
    const std::size_t capacity = buffer[0].iov_len + buffer[1].iov_len;
    msghdr message{};
    message.msg_iov = buffer.data();
    message.msg_iovlen = buffer.size();
    const ssize_t got = ::recvmsg(socket_.number(), &message, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return ReceiveResult::kAll;
    if (got <= 0) return ReceiveResult::kEnded;
    switch (input_.took(static_cast<std::size_t>(got), taker)) {
      case FrameInput::Outcome::kWrong: return ReceiveResult::kEnded;
      case FrameInput::Outcome::kStalled: await(false); return ReceiveResult::kAll;
      case FrameInput::Outcome::kMore: break;
    }
    if (static_cast<std::size_t>(got) < capacity) return ReceiveResult::kAll;
  }
  return ReceiveResult::kSome;
}

Connection::ReceiveResult Connection::resume(std::span<std::byte> rest, FrameTaker& taker) {
  switch (input_.resume(rest, taker)) {
    case FrameInput::Outcome::kWrong: return ReceiveResult::kEnded;
    case FrameInput::Outcome::kStalled: return ReceiveResult::kAll;
    case FrameInput::Outcome::kMore: break;
  }
  await(true);
  return receive(taker);
}

bool Connection::is_silent() const {
  const std::scoped_lock lock(mutex_);
  return !near_ && socket_.number() >= 0 && base::host::is_silent(socket_.number());
}

void Connection::leave(const FrameHead& last) noexcept {
  const auto limit = Clock::now() + kLeaveTimeout;
  const auto is_sent = [&] {
    const std::scoped_lock lock(mutex_);
    return line_.empty() || socket_.number() < 0;
  };
  while (!is_sent() && Clock::now() < limit) {
    pollfd state{socket_.number(), POLLOUT, 0};
    ::poll(&state, 1, 10);
    flush();
  }
  const std::scoped_lock lock(mutex_);
  if (line_.empty() && socket_.number() >= 0) ::send(socket_.number(), &last, sizeof last, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Connection::close() noexcept {
  FrameLine ended;
  {
    const std::scoped_lock lock(mutex_);
    if (socket_.number() >= 0) ::shutdown(socket_.number(), SHUT_RDWR);
    socket_.close();
    ended.splice(ended.end(), line_);
  }
  report(ended);
}

}  // namespace plait::transport::native
