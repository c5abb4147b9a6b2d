/// A connection from the client's side; its functions block the calling thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/descriptor.hpp"
#include "transport/native/endpoints.hpp"
#include "transport/native/frame.hpp"
#include "transport/native/key.hpp"

namespace plait::transport::native {

/// errors   kSystem in all functions: ECONNRESET if the peer has closed the connection, ETIMEDOUT after the time limit,
///          EINTR after base::interrupted().  After an error the connection can only be used to receive what had
///          arrived before, and to send a last frame if a signal ended receive().
/// forks    A child process cannot use the connection, which stays open in the parent.
/// threads  One at a time.
class Link {
 public:
  /// Connects and performs the handshake.  Tries the addresses in order and divides the time until the deadline `until`
  /// evenly among those not yet tried.  If no address answers, tries all of them again for 9 s.
  /// errors  kSystem: no address could be reached; the error lists the result of each.  EACCES: another key, or not
  ///         Plait.  EPROTO: another version.
  static std::unique_ptr<Link> connect(const Endpoints& to, const Key& key, Clock::time_point until);

  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Returns true if the peer is on this host, so that descriptors can be passed.
  bool is_local() const;
  /// Sends a frame whose body is the concatenation of the parts.  Blocks until the socket has accepted all of it.
  void send(FrameHead head, std::span<const std::span<const std::byte>> parts, Clock::time_point until);
  /// Waits for the next frame and returns its head.  pre  The previous body was received completely.
  FrameHead receive(Clock::time_point until);
  /// Receives the next bytes of the body into the parts, which they fill.
  void receive_body(std::span<const std::span<std::byte>> parts, Clock::time_point until);
  /// Returns the file descriptor that the peer sent with the last frame, if any.  pre  The body of that frame was
  /// received completely.
  base::Descriptor take_descriptor();
  /// Returns true if the peer is known to have closed the connection.  Does not block.
  bool is_closed_by_peer() const;
  /// Returns the descriptor of the socket, for poll().
  int number() const;

 private:
  class Impl;
  explicit Link(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plait::transport::native
