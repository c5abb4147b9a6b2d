/// A connection after its handshake.  Bodies are received directly into their destination.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <span>

#include "base/descriptor.hpp"
#include "transport/native/active/frame_input.hpp"
#include "transport/native/event_loop.hpp"
#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// A frame to send.
struct OutgoingFrame {
  FrameHead head;
  std::array<std::byte, sizeof(WireCall)> prefix{};  // sent with the header
  std::size_t prefix_bytes = 0;
  std::span<const std::byte> body;  ///< must stay valid until `sent` is called
  std::function<void()> sent;  ///< if set: called once, on any thread, when the bytes have been sent or never will be
  std::size_t done = 0;        // sent bytes of header, prefix and body

  std::size_t bytes() const { return sizeof head + prefix_bytes + body.size(); }
};
/// Frames in order.  Moving one into a queue allocates no memory.
using FrameLine = std::list<OutgoingFrame>;

/// threads  Any for send() and flush(); one at a time for receive(); the server's thread for the others.
class Connection {
 public:
  enum class ReceiveResult : std::uint8_t {
    kAll,    ///< all bytes that had arrived have been received
    kSome,   ///< a part of them; there may be more
    kEnded,  ///< the peer has closed the connection or violated the protocol
  };

  /// Registers the socket with an epoll set.  errors  kSystem: the set accepts no more.
  Connection(base::Descriptor socket, bool near, const Watch& watch);
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool near() const { return near_; }
  const Watch& watch() const { return watch_; }
  /// Queues frames, and sends as much as the socket accepts.
  void send(FrameLine& frames) noexcept;
  /// Sends from the queue, as much as the socket accepts.
  void flush() noexcept;
  ReceiveResult receive(FrameTaker& taker);
  /// Receives the rest of a body into other memory, as FrameInput::redirect().  Must not run during receive().
  void redirect(std::uint64_t tag, std::span<std::byte> body) { input_.redirect(tag, body); }
  /// Makes a queued frame send its body from other memory, which has the same bytes.  Returns false if no such frame is
  /// queued.
  bool replace_body(std::uint64_t tag, std::span<const std::byte> body) noexcept;
  /// Continues to receive a body for which the FrameTaker had no memory.  rest: memory for the rest of the body.
  ReceiveResult resume(std::span<std::byte> rest, FrameTaker& taker);
  /// Returns true if the peer's host does not answer.
  bool is_silent() const;
  /// Sends the queue for up to 0.1 s and then a last frame, if the socket accepts all of it.  The connection stays
  /// open.
  void leave(const FrameHead& last) noexcept;
  /// Closes the connection; the queue is discarded.
  void close() noexcept;

 private:
  void flush_into(FrameLine& ended);
  void await(bool input);
  void update();
  static void report(FrameLine& ended);

  const bool near_;
  const Watch watch_;
  FrameInput input_;

  mutable std::mutex mutex_;  // protects the members below
  base::Descriptor socket_;
  FrameLine line_;
  bool wants_input_ = true;
  std::uint32_t watched_;
};

}  // namespace plait::transport::native
