/// A connection after its handshake, which receives bodies directly into their destination.
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
  std::function<void()> sent;       ///< if any: called once, on any thread, when the bytes are sent or will never be
  std::size_t done = 0;             // of all

  std::size_t bytes() const { return sizeof head + prefix_bytes + body.size(); }
};
/// Frames in order.  Moving one into a queue allocates no memory.
using FrameLine = std::list<OutgoingFrame>;

/// threads  Any for send() and flush(); one at a time for receive(); the server's for the others.
class Connection {
 public:
  enum class ReceiveResult : std::uint8_t {
    kAll,    ///< all that had arrived
    kSome,   ///< a part; there may be more
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
  /// For who receives: puts the rest of a body elsewhere, as FrameInput::redirect.
  void redirect(std::uint64_t tag, std::span<std::byte> body) { input_.redirect(tag, body); }
  /// Sends the body of a frame in line from other memory, which has the same bytes.  Returns whether it is in line.
  bool replace_body(std::uint64_t tag, std::span<const std::byte> body) noexcept;
  /// Continues to receive a body for which the taker had no memory.  rest: memory for its remainder.
  ReceiveResult resume(std::span<std::byte> rest, FrameTaker& taker);
  /// True if the peer's host does not answer.
  bool is_silent() const;
  /// Sends a last frame, after the queue if the socket accepts that at once, and closes.
  void leave(const FrameHead& last) noexcept;
  void close() noexcept;

 private:
  void flush_into(FrameLine& ended);
  void await(bool input);
  void update();
  static void report(FrameLine& ended);

  const bool near_;
  const Watch watch_;
  FrameInput input_;

  mutable std::mutex mutex_;  // of what follows
  base::Descriptor socket_;
  FrameLine line_;
  bool wants_input_ = true;
  std::uint32_t watched_;
};

}  // namespace plait::transport::native
