// The send queue of a connection: frames and streams, sent without blocking.
//
// Problem: any thread may send frames, and must not wait for the socket. Long streams must not delay short frames.
//
// Idea: send() writes directly if the queue is empty; what the socket does not accept becomes the current frame
// (in_part_), and the server's thread continues with flush(). Only one thread at a time writes (writing_); it releases
// the lock during system calls, so that others can queue frames. A stream is produced in pieces of kMaxStream bytes,
// and queued frames are sent between two pieces.
//
// Example: send() of a frame of 100 KB, of which the socket accepts 60 KB. The frame is copied, and becomes current
// with done = 60 KB. A second send() is queued. When the socket is writable, flush() sends the other 40 KB, and then
// the second frame.

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
constexpr std::size_t kTurn = 8 * kMaxStream;

/// The unsent part of a frame.
struct UnsentFrame {
  UnsentFrame(const FrameHead& head, std::span<const std::byte> body, std::size_t done) {
    const std::size_t of_head = std::min(done, sizeof head);
    const std::size_t of_body = done - of_head;
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
  if (descriptor >= 0 && descriptors_) frame.descriptor = base::Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  return frame;
}

std::ptrdiff_t Output::write_some(const Frame& frame, int descriptor) const {
  UnsentFrame rest(frame.head, frame.body, frame.done);
  msghdr message{};
  message.msg_iov = rest.parts.data();
  message.msg_iovlen = rest.parts.size();
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0 && descriptors_ && frame.done == 0) {
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
  FrameHead whole = head;
  whole.bytes = body.size();
  try {
    if (!writing_ && !in_part_ && frames_.empty()) return send_now(lock, whole, body, descriptor);
    // The thread that is writing, or flush(), continues with the queue.
    frames_.push_back(copy_frame(whole, body, descriptor));
    return Outcome::kIdle;
  } catch (const std::bad_alloc&) {
    return break_connection();
  }
}

/// The caller holds mutex_.  The shutdown of the socket also wakes the server's thread.
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
  frame.done = static_cast<std::size_t>(sent);
  if (frame.done < frame.bytes()) {
    const std::size_t done = frame.done;
    current_ = copy_frame(head, body, done == 0 ? descriptor : -1);
    current_.done = done;
    in_part_ = true;
  }
  return waiting() ? Outcome::kFull : Outcome::kIdle;
}

Output::Outcome Output::stream(const FrameHead& head, std::uint64_t bytes, Produce& produce, EndCallback& ended) {
  const Lock lock(mutex_);
  if (closed_ || broken_) return Outcome::kBroken;
  streams_.push_back({head, bytes, 0, {}, {}});
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
  if (streams_.empty() && !in_part_) piece_.reset();
  return outcome;
}

Output::Outcome Output::flush_some(Lock& lock) {
  for (std::size_t sent = 0; sent < kTurn;) {
    if (!in_part_ && !next_frame(lock)) return Outcome::kBroken;
    if (!in_part_) return Outcome::kIdle;
    lock.unlock();
    const std::ptrdiff_t written = write_some(current_, current_.descriptor.number());
    if (written > 0) current_.descriptor.close();
    lock.lock();
    if (written < 0) return Outcome::kBroken;
    if (written == 0) return Outcome::kFull;
    current_.done += static_cast<std::size_t>(written);
    sent += static_cast<std::size_t>(written);
    if (current_.done < current_.bytes()) continue;
    in_part_ = false;
    const bool piece = current_.copy == nullptr && !current_.body.empty();
    current_ = {};
    if (piece && streams_.front().produced == streams_.front().bytes) end_stream(lock, true);
  }
  return Outcome::kFull;
}

/// Makes the next frame current, if there is one.  Returns false if a stream failed.
bool Output::next_frame(Lock& lock) {
  if (frames_.empty())
    while (!streams_.empty() && streams_.front().bytes == 0) end_stream(lock, true);
  if (!frames_.empty()) {
    current_ = std::move(frames_.front());
    frames_.pop_front();
    in_part_ = true;
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
  in_part_ = true;
  return true;
}

void Output::end_stream(Lock& lock, bool whole) {
  const Stream stream = std::move(streams_.front());
  streams_.pop_front();
  lock.unlock();
  if (stream.ended) stream.ended(whole);
  lock.lock();
}

/// Ends the writing of this thread.  If close() was called meanwhile, it has left the socket open for this thread,
/// which closes it now.
void Output::stop_writing() {
  writing_ = false;
  if (closed_) socket_.close();
}

void Output::finish() { ::shutdown(socket_.number(), SHUT_WR); }

void Output::close() {
  Lock lock(mutex_);
  if (std::exchange(closed_, true)) return;
  ::shutdown(socket_.number(), SHUT_RDWR);
  if (!writing_) socket_.close();
  in_part_ = false;
  current_ = {};
  frames_.clear();
  while (!streams_.empty()) end_stream(lock, false);
}

}  // namespace plait::transport::native
