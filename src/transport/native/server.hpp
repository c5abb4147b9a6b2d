/// The server of a process: one thread that serves all incoming connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/native/endpoints.hpp"
#include "transport/native/event_loop.hpp"
#include "transport/native/frame.hpp"
#include "transport/native/key.hpp"

namespace plait::transport::native {

/// One connection at the server.
/// threads  Any number at once.  No function blocks.
class Peer {
 public:
  virtual ~Peer() = default;
  /// Returns the number of the connection, from 1, unique in a server.
  virtual std::uint64_t number() const = 0;
  /// Returns true if the other process is on this host, so that file descriptors can be passed.
  virtual bool is_local() const = 0;
  /// Queues a copy of a frame.  descriptor: a file descriptor, a copy of which is sent with the frame to a local peer;
  /// -1: none.  Does nothing if the connection has ended.
  virtual void send(FrameHead head, std::span<const std::byte> body, int descriptor = -1) = 0;
  /// Fills `into` with the bytes of a stream from `offset` on.  Called with ascending offsets, on the server's thread,
  /// when the socket accepts data.  Returning false ends the connection.
  using Produce = std::function<bool(std::uint64_t offset, std::span<std::byte> into)>;
  /// Queues a stream of `bytes` bytes, which becomes frames with the kind, flags and tag of `head`, of kMaxStream bytes
  /// each except for the last one.  Frames of send() are sent between them; streams of one peer follow each other.
  /// `ended`, if any, is called once, on the server's thread, with true if all bytes were sent.
  virtual void stream(FrameHead head, std::uint64_t bytes, Produce produce, std::function<void(bool)> ended) = 0;
  /// Closes the connection after the queue has been sent, but after at most a second.
  virtual void close() = 0;
};

/// Handles the frames of a server.  Its functions are called on the server's thread, one at a time; they must not throw
/// or block.
class Service {
 public:
  virtual ~Service() = default;
  /// Called when a connection has passed the handshake.
  virtual void opened(const std::shared_ptr<Peer>& peer) = 0;
  /// Called for each frame that has arrived completely.
  virtual void received(const std::shared_ptr<Peer>& peer, const FrameHead& head, std::span<const std::byte> body) = 0;
  /// Called when a connection has ended.  why: the reason, for messages.
  virtual void closed(const std::shared_ptr<Peer>& peer, const std::string& why) = 0;
};

/// Accepts connections by IPv4, IPv6 and local sockets from processes that know the key.
///
/// A connection that sends another protocol, an incomplete hello or a wrong proof (hello.hpp) is closed within
/// Options::handshake_timeout; until then, the server reads only a hello and a proof, which have fixed lengths.  If
/// `max_unauthenticated` connections wait for their handshake, further connections wait in the kernel.
/// memory   For each peer at most kMaxStream bytes of streams, kMaxReceive bytes of incoming frames, and its send
///          queue.  If the queue has `max_queued` entries, the server reads nothing more from the peer until half of
///          them are sent.  So for a peer that does not read, at most `max_queued` answers are queued, plus the answers
///          to the last 64 KiB that the server received.
/// forks    A child process has no server.
class Server {
 public:
  struct Options {
    /// Interface names (`eth1`), networks (`10.1.0.0/16`) or addresses of this host, separated by commas, at which
    /// connections of other hosts are accepted; empty: all except loopback.
    /// errors  kArgument: no such interface; the error lists those that exist.
    std::string network;
    std::uint16_t first_port = 0;  ///< first port of a range, for firewalls; 0: any port
    std::uint16_t last_port = 0;
    bool other_hosts = true;  ///< accept connections of other hosts
    int max_unauthenticated = 64;
    std::size_t max_queued = SIZE_MAX;  ///< maximum frames and streams in the send queue of a peer
    std::chrono::milliseconds handshake_timeout{2000};
  };

  /// Starts a server that passes frames to `service`.
  /// errors  kSystem: no socket can be created; kArgument: see Options.
  static std::unique_ptr<Server> start(const Key& key, std::shared_ptr<Service> service, const Options& options);
  /// Starts a server that hands authenticated connections to `taker`, which reads the frames itself.
  static std::unique_ptr<Server> start(const Key& key, std::shared_ptr<ConnectionTaker> taker, const Options& options);
  /// Ends the thread and all connections; the service is not called after it returns.
  virtual ~Server() = default;

  virtual const Endpoints& endpoints() const = 0;
  /// Calls a function on the server's thread.
  virtual void post(std::function<void()> body) = 0;
  /// Returns the number of rejected connections.
  virtual std::int64_t rejected() const = 0;
  /// Returns the interface of the server's thread.  It remains usable after the server has ended, but then does
  /// nothing.
  virtual std::shared_ptr<EventLoop> loop() const = 0;
};

}  // namespace plait::transport::native
