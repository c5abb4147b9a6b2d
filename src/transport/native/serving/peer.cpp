#include "transport/native/serving/peer.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace plait::transport::native {

namespace {

/// Maximum number of reads in one receive(), so that other peers do not wait for long.
constexpr int kMaxReads = 16;

}  // namespace

void OpenPeer::send(FrameHead head, std::span<const std::byte> body, int descriptor) {
  if (!owner_.here() || closing_.load(std::memory_order_relaxed)) return;
  if (output_.send(head, body, descriptor) != Output::Outcome::kIdle) mailbox_->request_flush(number_);
}

void OpenPeer::stream(FrameHead head, std::uint64_t bytes, Produce produce, std::function<void(bool)> ended) {
  if (!owner_.here()) return;
  if (!closing_.load(std::memory_order_relaxed) &&
      output_.stream(head, bytes, produce, ended) != Output::Outcome::kBroken)
    return mailbox_->request_flush(number_);
  // Call `ended` on the server's thread; if the server has ended, on this thread.
  if (ended && !mailbox_->post([ended] { ended(false); })) ended(false);
}

void OpenPeer::close() {
  if (owner_.here() && !closing_.exchange(true)) mailbox_->request_flush(number_);
}

const char* OpenPeer::flush() {
  if (state_ == State::kGone || state_ == State::kFinished) return nullptr;
  if (state_ == State::kOpen && closing_) {
    state_ = State::kClosing;
    close_deadline_ = Clock::now() + kCloseTimeout;
  }
  const Output::Outcome outcome = output_.flush();
  waits_for_socket_ = outcome == Output::Outcome::kFull;
  // A peer is throttled when its queue is full, until half of the queue is sent.
  const std::size_t threshold = is_throttled_ ? (max_queued_ + 1) / 2 : max_queued_;
  is_throttled_ = state_ == State::kOpen && output_.queued() >= threshold;
  if (outcome == Output::Outcome::kBroken) return "nothing more can be sent to it";
  if (outcome == Output::Outcome::kIdle && state_ == State::kClosing) {
    output_.shut_down_sending();
    state_ = State::kFinished;
  }
  return nullptr;
}

const char* OpenPeer::receive(Service& service, std::span<std::byte> common) try {
  for (int read = 0; read < kMaxReads; ++read) {
    const bool wants_frames = state_ == State::kOpen && !closing_;  // otherwise input is discarded
    if (wants_frames && (is_throttled_ || output_.queued() >= max_queued_))
      return nullptr;  // read again when flush() has sent a part of the queue
    const auto buffer = wants_frames ? reader_.input_space(common) : common;
    const ssize_t got = ::recv(socket(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? nullptr : std::strerror(errno);
    if (got == 0) return "it has closed the connection, or ended";
    if (!wants_frames) continue;
    const auto outcome = reader_.process_input(buffer.first(static_cast<std::size_t>(got)),
                                               [&](const FrameHead& head, std::span<const std::byte> body) {
                                                 service.received(self(), head, body);
                                                 return !closing_;
                                               });
    if (outcome == FrameReader::Outcome::kTooLong) return "it has sent a frame that is longer than may be sent";
    if (static_cast<std::size_t>(got) < buffer.size()) return nullptr;
  }
  return nullptr;
} catch (const std::bad_alloc&) {
  return "there is no memory for what it sends";
}

void OpenPeer::end() {
  state_ = State::kGone;
  closing_ = true;
  output_.close();
}

}  // namespace plait::transport::native
