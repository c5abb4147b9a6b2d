/// A connection that has been proved, whose bytes are not copied on their way.
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

/// A frame that is to be sent.
struct OutgoingFrame {
  FrameHead head;
  std::array<std::byte, sizeof(WireCall)> front{};  // goes along with the head
  std::size_t front_bytes = 0;
  std::span<const std::byte> body;  ///< stays where it is until `sent`
  std::function<void()> sent;  ///< if any: called once, on any thread, when the system has the bytes or nobody will
  std::size_t done = 0;        // of all

  std::size_t bytes() const { return sizeof head + front_bytes + body.size(); }
};
/// Frames in their order.  One that goes into a line needs no memory any more.
using FrameLine = std::list<OutgoingFrame>;

/// threads  send() and flush() any; receive() one at a time; the others that of the server.
class Connection {
 public:
  enum class ReceiveResult : std::uint8_t {
    kAll,    ///< all that there was
    kSome,   ///< for a while; there may be more
    kEnded,  ///< the other end has hung up, or broken the rules
  };

  /// Waits for what comes, in a set of epoll.  errors  kSystem: the set takes no more.
  Connection(base::Descriptor socket, bool near, const Watch& watch);
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool near() const { return near_; }
  const Watch& watch() const { return watch_; }
  /// Puts frames in line, and sends what the system takes.
  void send(FrameLine& frames) noexcept;
  /// Sends what is in line, as far as the system takes it.
  void flush() noexcept;
  ReceiveResult receive(FrameTaker& taker);
  /// For who receives: puts the rest of a body elsewhere, as FrameInput::redirect.
  void redirect(std::uint64_t tag, std::span<std::byte> body) { input_.redirect(tag, body); }
  /// Sends the body of a frame in line from other memory, which has the same bytes.  Returns whether it is in line.
  bool replace_body(std::uint64_t tag, std::span<const std::byte> body) noexcept;
  /// Where the rest of the body is to be put for which the taker had no room.
  ReceiveResult resume(std::span<std::byte> rest, FrameTaker& taker);
  /// Whether the other end's host does not answer.
  bool is_silent() const;
  /// Sends a last frame, behind what is in line if that goes soon, and hangs up.  Nothing waits for room any more.
  void leave(const FrameHead& last) noexcept;
  void close() noexcept;

 private:
  void flush_into(FrameLine& ended);
  void await(bool input);
  void update();
  static void tell(FrameLine& ended);

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
