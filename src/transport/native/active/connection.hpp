/// A connection of active messages after its handshake: a queue of frames to send, and a receiver that puts the bodies
/// of frames directly into their destination.
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
  std::array<std::byte, sizeof(WireCall)> prefix{};  // sent between head and body
  std::size_t prefix_bytes = 0;
  std::span<const std::byte> body;  ///< must stay valid until `sent` is called
  std::function<void()> sent;  ///< if set: called once, on any thread, when the bytes have been sent or never will be
  std::size_t bytes_sent = 0;  // of head, prefix and body

  std::size_t bytes() const { return sizeof head + prefix_bytes + body.size(); }
};
/// Frames in order.  A list, because moving a frame from one list to another allocates no memory.
using FrameList = std::list<OutgoingFrame>;

/// threads  Any for send() and flush(); one at a time for receive(); the server's thread for the others.
class Connection {
 public:
  enum class ReceiveResult : std::uint8_t {
    kAll,    ///< all bytes that had arrived have been received
    kSome,   ///< a part of them; there may be more
    kEnded,  ///< the peer has closed the connection or violated the protocol
  };

  /// Registers the socket with the epoll set of `watch`.  errors  kSystem: the set accepts no more.
  Connection(base::Descriptor socket, bool is_local, const Watch& watch);
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_local() const { return is_local_; }
  const Watch& watch() const { return watch_; }
  /// Moves frames to the queue, and sends as much as the socket accepts.
  void send(FrameList& frames) noexcept;
  /// Sends from the queue, as much as the socket accepts.
  void flush() noexcept;
  ReceiveResult receive(FrameTaker& taker);
  /// Receives the rest of a body into other memory, see FrameInput::redirect().  Must not run during receive().
  void redirect(std::uint64_t tag, std::span<std::byte> body) { input_.redirect(tag, body); }
  /// Makes a queued frame send its body from other memory, which has the same bytes.  Returns false if no such frame is
  /// queued.
  bool replace_body(std::uint64_t tag, std::span<const std::byte> body) noexcept;
  /// Continues to receive a body for which the FrameTaker had no memory.  rest: memory for the rest of the body.
  ReceiveResult resume(std::span<std::byte> rest, FrameTaker& taker);
  /// Returns true if the peer's host does not answer.
  bool is_silent() const;
  /// Sends the queue for up to 0.1 s, and then the frame `last` if the whole queue was sent.  The connection stays
  /// open.
  void leave(const FrameHead& last) noexcept;
  /// Closes the connection; the queue is discarded.
  void close() noexcept;

 private:
  void flush_into(FrameList& ended);
  void watch_for_input(bool wanted);
  void update_watch();
  static void call_sent_callbacks(FrameList& ended);

  const bool is_local_;
  const Watch watch_;
  FrameInput input_;

  mutable std::mutex mutex_;  // protects the members below
  base::Descriptor socket_;
  FrameList queue_;
  bool wants_input_ = true;
  std::uint32_t watched_events_;  // those for which the socket is registered
};

}  // namespace plait::transport::native
