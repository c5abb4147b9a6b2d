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

/// Maximum bytes that one flush() sends, and maximum number of reads of one receive(), so that other connections do not
/// wait for long.
constexpr std::size_t kTurnBytes = std::size_t{4} << 20;
constexpr int kTurnReads = 16;
/// Maximum number of memory segments in one system call: up to three for each of 8 frames.
constexpr std::size_t kPartsOfFrame = 3;
constexpr std::size_t kMaxParts = 8 * kPartsOfFrame;
/// Maximum time for which leave() sends the queue.
constexpr std::chrono::milliseconds kLeaveTimeout{100};

/// The unsent parts of the first frames of a queue, for one sendmsg().
struct FrameParts {
  explicit FrameParts(FrameList& frames) {
    for (auto frame = frames.begin(); frame != frames.end() && count + kPartsOfFrame <= kMaxParts; ++frame) {
      std::size_t skip = frame->bytes_sent;
      const auto add = [&](const std::byte* data, std::size_t size) {
        const std::size_t skipped = std::min(skip, size);
        skip -= skipped;
        // const_cast: sendmsg() only reads.
        if (size > skipped) parts[count++] = {const_cast<std::byte*>(data) + skipped, size - skipped};
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

Connection::Connection(base::Descriptor socket, bool is_local, const Watch& watch)
    : is_local_(is_local), watch_(watch), socket_(std::move(socket)), watched_events_(EPOLLIN) {
  if (watch_.begin(socket_.number(), watched_events_)) return;
  const int code = errno;
  base::throw_system_error(code, "cannot wait for a connection: ", std::strerror(code));
}

void Connection::send(FrameList& frames) noexcept {
  FrameList ended;
  {
    const std::scoped_lock lock(mutex_);
    if (socket_.number() < 0) {
      ended.splice(ended.end(), frames);
    } else {
      const bool idle = queue_.empty();
      queue_.splice(queue_.end(), frames);
      if (idle) flush_into(ended);
    }
  }
  call_sent_callbacks(ended);
}

void Connection::flush() noexcept {
  FrameList ended;
  {
    const std::scoped_lock lock(mutex_);
    if (socket_.number() >= 0) flush_into(ended);
  }
  call_sent_callbacks(ended);
}

bool Connection::replace_body(std::uint64_t tag, std::span<const std::byte> body) noexcept {
  const std::scoped_lock lock(mutex_);
  for (OutgoingFrame& frame : queue_) {
    if (frame.head.tag != tag || frame.body.size() != body.size()) continue;
    frame.body = body;
    return true;
  }
  return false;
}

/// Sends from the queue, and moves sent frames to `ended`.  mutex_ must be locked.  On an error, shuts the socket down:
/// the receiving thread then handles the end of the connection.
void Connection::flush_into(FrameList& ended) {
  for (std::size_t sent = 0; !queue_.empty() && sent < kTurnBytes;) {
    FrameParts unsent(queue_);
    msghdr message{};
    message.msg_iov = unsent.parts.data();
    message.msg_iovlen = unsent.count;
    const ssize_t put = ::sendmsg(socket_.number(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS) {
      ended.splice(ended.end(), queue_);
      ::shutdown(socket_.number(), SHUT_RDWR);
    }
    if (put <= 0) break;
    sent += static_cast<std::size_t>(put);
    for (auto unassigned = static_cast<std::size_t>(put); unassigned > 0;) {
      OutgoingFrame& frame = queue_.front();
      const std::size_t of_frame = std::min(unassigned, frame.bytes() - frame.bytes_sent);
      frame.bytes_sent += of_frame;
      unassigned -= of_frame;
      if (frame.bytes_sent == frame.bytes()) ended.splice(ended.end(), queue_, queue_.begin());
    }
  }
  update_watch();
}

/// Registers the events that are needed in the current state.  mutex_ must be locked.
void Connection::update_watch() {
  // Without input, EPOLLRDHUP still reports that the peer has closed.
  const std::uint32_t events = (wants_input_ ? EPOLLIN : EPOLLRDHUP) | (queue_.empty() ? 0U : EPOLLOUT);
  if (events != watched_events_ && watch_.change(socket_.number(), events)) watched_events_ = events;
}

void Connection::call_sent_callbacks(FrameList& ended) {
  for (const OutgoingFrame& frame : ended)
    if (frame.sent) frame.sent();
}

void Connection::watch_for_input(bool wanted) {
  const std::scoped_lock lock(mutex_);
  wants_input_ = wanted;
  if (socket_.number() >= 0) update_watch();
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
    switch (input_.process_input(static_cast<std::size_t>(got), taker)) {
      case FrameInput::Outcome::kWrong: return ReceiveResult::kEnded;
      case FrameInput::Outcome::kStalled: watch_for_input(false); return ReceiveResult::kAll;
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
  watch_for_input(true);
  return receive(taker);
}

bool Connection::is_silent() const {
  const std::scoped_lock lock(mutex_);
  return !is_local_ && socket_.number() >= 0 && base::host::is_silent(socket_.number());
}

void Connection::leave(const FrameHead& last) noexcept {
  const auto limit = Clock::now() + kLeaveTimeout;
  const auto is_sent = [&] {
    const std::scoped_lock lock(mutex_);
    return queue_.empty() || socket_.number() < 0;
  };
  while (!is_sent() && Clock::now() < limit) {
    pollfd state{socket_.number(), POLLOUT, 0};
    ::poll(&state, 1, /*timeout=*/10);  // milliseconds
    flush();
  }
  const std::scoped_lock lock(mutex_);
  if (queue_.empty() && socket_.number() >= 0)
    ::send(socket_.number(), &last, sizeof last, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Connection::close() noexcept {
  FrameList ended;
  {
    const std::scoped_lock lock(mutex_);
    if (socket_.number() >= 0) ::shutdown(socket_.number(), SHUT_RDWR);
    socket_.close();
    ended.splice(ended.end(), queue_);
  }
  call_sent_callbacks(ended);
}

}  // namespace plait::transport::native
