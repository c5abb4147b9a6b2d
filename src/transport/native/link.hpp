/// The end of a connection that a process has made, which waits in the calling thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/descriptor.hpp"
#include "transport/native/endpoints.hpp"
#include "transport/native/frame.hpp"
#include "transport/native/key.hpp"

namespace plait::transport::native {

/// errors   kSystem in all functions: ECONNRESET where the other end has gone, ETIMEDOUT where the time is up, EINTR
///          where base::interrupted(); the connection cannot be used after any of them, but to receive what had come
///          before the other end went, and to send what ends it where a signal has ended receive().
/// forks    A child has no connection; its parent's stays.
/// threads  One at a time.
class Link {
 public:
  /// Connects, and proves in both directions who knows the key.  Tries the addresses in order, each for as long as is
  /// left divided by those that are left; and all of them again, for 9 s, where no host has answered.
  /// errors  kSystem: none could be reached; each is named, with what was found there.  EACCES: another key, or
  ///         something else than Plait.  EPROTO: another version.
  static std::unique_ptr<Link> connect(const Endpoints& to, const Key& key, Clock::time_point until);

  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Whether the other end is on this host: descriptors can be passed.
  bool near() const;
  /// Sends a frame, whose body is these parts one after the other.  Waits until the system has taken all of it.
  void send(FrameHead head, std::span<const std::span<const std::byte>> parts, Clock::time_point until);
  /// Waits for the next frame and returns its head.  The body of the one before has been taken whole.
  FrameHead receive(Clock::time_point until);
  /// Takes the next bytes of the body into these parts, straight from the system.
  void take(std::span<const std::span<std::byte>> parts, Clock::time_point until);
  /// The descriptor that came along with the last frame, if any: ask once its body has been taken.
  base::Descriptor descriptor();
  /// Whether the other end has gone, as far as can be known without waiting.
  bool gone() const;
  /// What poll() waits on until something can be received.
  int number() const;

 private:
  class Impl;
  explicit Link(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plait::transport::native
