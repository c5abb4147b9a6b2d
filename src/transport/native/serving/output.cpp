// The send queue of a connection: frames and streams, sent without blocking.
//
// Problem: any thread may send frames, and must not wait for the socket. Long streams must not delay short frames.
//
// Idea: send() writes directly if the queue is empty. A frame that the socket accepts only in part becomes the current
// frame (current_), and the server's thread continues it with flush(). Only one thread at a time writes (writing_); it
// releases the lock during system calls, so that others can queue frames. A stream is produced in pieces of kMaxStream
// bytes, and queued frames are sent between two pieces.
//
// Example: send() of a frame of 100 KB, of which the socket accepts 60 KB. The frame is copied, and becomes current
// with bytes_sent = 60 KB. The frame of a second send() is queued. When the socket is writable, flush() sends the other
// 40 KB, and then the second frame.

#include "transport/native/serving/output.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace plait::transport::native {

namespace {

/// Maximum bytes that one flush() sends, so that other peers do not wait for long.
constexpr std::size_t kMaxFlush = 8 * kMaxStream;

/// The unsent part of a frame.
struct UnsentFrame {
  UnsentFrame(const FrameHead& head, std::span<const std::byte> body, std::size_t bytes_sent) {
    const std::size_t of_head = std::min(bytes_sent, sizeof head);
    const std::size_t of_body = bytes_sent - of_head;
    // const_cast: sendmsg() only reads.
    parts[0] = {const_cast<std::byte*>(reinterpret_cast<const std::byte*>(&head)) + of_head, sizeof head - of_head};
    parts[1] = {const_cast<std::byte*>(body.data()) + of_body, body.size() - of_body};
  }
  std::array<iovec, 2> parts{};
};

}  // namespace

Output::Frame Output::copy_frame(const FrameHead& head, std::span<const std::byte> body, int descriptor) const {
  Frame frame;
  frame.head = head;
  if (!body.empty()) {
    frame.copy = std::make_unique_for_overwrite<std::byte[]>(body.size());
    std::memcpy(frame.copy.get(), body.data(), body.size());
    frame.body = {frame.copy.get(), body.size()};
  }
  if (descriptor >= 0 && passes_descriptors_)
    frame.descriptor = base::Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  return frame;
}

std::ptrdiff_t Output::write_some(const Frame& frame, int descriptor) const {
  UnsentFrame unsent(frame.head, frame.body, frame.bytes_sent);
  msghdr message{};
  message.msg_iov = unsent.parts.data();
  message.msg_iovlen = unsent.parts.size();
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0 && passes_descriptors_ && frame.bytes_sent == 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  while (true) {
    const ssize_t sent = ::sendmsg(socket_.number(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno == ETOOMANYREFS &&
        message.msg_control != nullptr) {  // too many descriptors are in flight: the frame is sent without one
      message.msg_control = nullptr;
      message.msg_controllen = 0;
    } else if (errno != EINTR) {
      return -1;
    }
  }
}

std::size_t Output::queued() {
  const Lock lock(mutex_);
  return frames_.size() + streams_.size();
}

Output::Outcome Output::send(const FrameHead& head, std::span<const std::byte> body, int descriptor) {
  Lock lock(mutex_);
  if (closed_ || broken_) return Outcome::kIdle;
  FrameHead complete_head = head;
  complete_head.bytes = body.size();
  try {
    if (!writing_ && !has_current_ && frames_.empty()) return send_now(lock, complete_head, body, descriptor);
    // The thread that is writing, or flush(), continues with the queue.
    frames_.push_back(copy_frame(complete_head, body, descriptor));
    return Outcome::kIdle;
  } catch (const std::bad_alloc&) {
    return break_connection();
  }
}

/// mutex_ must be locked.  The shutdown of the socket also wakes the server's thread.
Output::Outcome Output::break_connection() {
  broken_ = true;
  ::shutdown(socket_.number(), SHUT_RDWR);
  return Outcome::kBroken;
}

Output::Outcome Output::send_now(Lock& lock, const FrameHead& head, std::span<const std::byte> body, int descriptor) {
  writing_ = true;
  lock.unlock();
  Frame frame;
  frame.head = head;
  frame.body = body;
  const std::ptrdiff_t sent = write_some(frame, descriptor);
  lock.lock();
  stop_writing();
  if (closed_) return Outcome::kIdle;
  if (sent < 0) return break_connection();
  frame.bytes_sent = static_cast<std::size_t>(sent);
  if (frame.bytes_sent < frame.bytes()) {
    const std::size_t bytes_sent = frame.bytes_sent;
    current_ = copy_frame(head, body, bytes_sent == 0 ? descriptor : -1);
    current_.bytes_sent = bytes_sent;
    has_current_ = true;
  }
  return is_queue_empty() ? Outcome::kIdle : Outcome::kFull;
}

Output::Outcome Output::stream(const FrameHead& head, std::uint64_t bytes, Produce& produce, EndCallback& ended) {
  const Lock lock(mutex_);
  if (closed_ || broken_) return Outcome::kBroken;
  streams_.push_back({head, bytes, 0, {}, {}});  // may throw, so the caller's functions are taken only after it
  streams_.back().produce.swap(produce);
  streams_.back().ended.swap(ended);
  return Outcome::kFull;
}

Output::Outcome Output::flush() {
  Lock lock(mutex_);
  if (closed_ || broken_) return Outcome::kBroken;
  if (writing_) return Outcome::kFull;  // another thread is writing, and will soon be done
  writing_ = true;
  Outcome outcome = Outcome::kBroken;
  try {
    outcome = flush_some(lock);
  } catch (const std::bad_alloc&) {
  }
  if (!lock.owns_lock()) lock.lock();
  writing_ = false;
  if (outcome == Outcome::kBroken) broken_ = true;
  if (streams_.empty() && !has_current_) piece_.reset();
  return outcome;
}

Output::Outcome Output::flush_some(Lock& lock) {
  for (std::size_t sent = 0; sent < kMaxFlush;) {
    if (!has_current_ && !next_frame(lock)) return Outcome::kBroken;
    if (!has_current_) return Outcome::kIdle;
    lock.unlock();
    const std::ptrdiff_t written = write_some(current_, current_.descriptor.number());
    if (written > 0) current_.descriptor.close();
    lock.lock();
    if (written < 0) return Outcome::kBroken;
    if (written == 0) return Outcome::kFull;
    current_.bytes_sent += static_cast<std::size_t>(written);
    sent += static_cast<std::size_t>(written);
    if (current_.bytes_sent < current_.bytes()) continue;
    has_current_ = false;
    const bool was_piece_of_stream = current_.copy == nullptr && !current_.body.empty();
    current_ = {};
    if (was_piece_of_stream && streams_.front().produced == streams_.front().bytes)
      end_stream(lock, /*is_complete=*/true);
  }
  return Outcome::kFull;
}

/// Makes the next frame, or the next piece of a stream, current if there is one.  Returns false if a stream failed.
bool Output::next_frame(Lock& lock) {
  if (frames_.empty())
    while (!streams_.empty() && streams_.front().bytes == 0) end_stream(lock, /*is_complete=*/true);
  if (!frames_.empty()) {
    current_ = std::move(frames_.front());
    frames_.pop_front();
    has_current_ = true;
    return true;
  }
  return streams_.empty() || produce_piece(lock);
}

bool Output::produce_piece(Lock& lock) {
  Stream& stream = streams_.front();  // the reference stays valid: only this thread removes streams
  if (!piece_) piece_ = std::make_unique_for_overwrite<std::byte[]>(kMaxStream);
  const auto bytes = static_cast<std::size_t>(std::min(stream.bytes - stream.produced, kMaxStream));
  lock.unlock();
  const bool produced_all = stream.produce(stream.produced, {piece_.get(), bytes});
  lock.lock();
  if (!produced_all) return false;
  stream.produced += bytes;
  current_ = {};
  current_.head = stream.head;
  current_.head.bytes = bytes;
  current_.body = {piece_.get(), bytes};
  has_current_ = true;
  return true;
}

/// Removes the first stream and calls its callback.  is_complete: all of its bytes were sent.
void Output::end_stream(Lock& lock, bool is_complete) {
  const Stream stream = std::move(streams_.front());
  streams_.pop_front();
  lock.unlock();
  if (stream.ended) stream.ended(is_complete);
  lock.lock();
}

/// Ends the writing of this thread.  If close() was called meanwhile, it has left the socket open for this thread,
/// which closes it now.
void Output::stop_writing() {
  writing_ = false;
  if (closed_) socket_.close();
}

void Output::shut_down_sending() { ::shutdown(socket_.number(), SHUT_WR); }

void Output::close() {
  Lock lock(mutex_);
  if (std::exchange(closed_, true)) return;
  ::shutdown(socket_.number(), SHUT_RDWR);
  if (!writing_) socket_.close();
  has_current_ = false;
  current_ = {};
  frames_.clear();
  while (!streams_.empty()) end_stream(lock, /*is_complete=*/false);
}

}  // namespace plait::transport::native
