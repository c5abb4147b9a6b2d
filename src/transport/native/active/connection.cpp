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

/// Bytes sent, and reads done, before other connections have their turn.
constexpr std::size_t kTurnBytes = std::size_t{4} << 20;
constexpr int kTurnReads = 16;
/// Maximum number of segments in one system call.
constexpr std::size_t kMaxParts = 24;
/// Time limit for the send queue when this end leaves.
constexpr std::chrono::milliseconds kLastFrames{100};

/// Returns the unsent parts of the first frames of a queue.
struct FrameParts {
  explicit FrameParts(FrameLine& line) {
    for (auto frame = line.begin(); frame != line.end() && count + 3 <= kMaxParts; ++frame) {
      std::size_t skip = frame->done;
      const auto add = [&](const std::byte* data, std::size_t size) {
        const std::size_t gone = std::min(skip, size);
        skip -= gone;
        if (size > gone) parts[count++] = {const_cast<std::byte*>(data) + gone, size - gone};  // only read
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

/// The caller holds mutex_.  An error of the socket is handled by the receiving thread.
void Connection::flush_into(FrameLine& ended) {
  for (std::size_t sent = 0; !line_.empty() && sent < kTurnBytes;) {
    FrameParts gathered(line_);
    msghdr message{};
    message.msg_iov = gathered.parts.data();
    message.msg_iovlen = gathered.count;
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

/// The caller holds mutex_.
void Connection::update() {
  // EPOLLRDHUP reports that the peer has closed, even if no data is awaited.
  const std::uint32_t wanted = (wants_input_ ? EPOLLIN : EPOLLRDHUP) | (line_.empty() ? 0U : EPOLLOUT);
  if (wanted != watched_ && watch_.change(socket_.number(), wanted)) watched_ = wanted;
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
    const std::size_t most = buffer[0].iov_len + buffer[1].iov_len;
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
    if (static_cast<std::size_t>(got) < most) return ReceiveResult::kAll;
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
  const auto limit = Clock::now() + kLastFrames;
  const auto left = [&] {
    const std::scoped_lock lock(mutex_);
    return line_.empty() || socket_.number() < 0;
  };
  while (!left() && Clock::now() < limit) {
    pollfd one{socket_.number(), POLLOUT, 0};
    ::poll(&one, 1, 10);
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
