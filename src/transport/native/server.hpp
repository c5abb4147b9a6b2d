/// The end of connections that others have made: one thread for all of them, which sleeps in the kernel.
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

/// One connection, as the server has it.
/// threads  Any, at once.  No function waits.
class Peer {
 public:
  virtual ~Peer() = default;
  /// Counts from 1, different for all connections of a server.
  virtual std::uint64_t number() const = 0;
  virtual bool near() const = 0;
  /// Puts a frame in line.  descriptor: a copy of it goes along, to a peer of the same host; -1: none.  Nothing happens
  /// where the peer has gone.
  virtual void send(FrameHead head, std::span<const std::byte> body, int descriptor = -1) = 0;
  /// Fills `into` with the bytes of a stream from `offset` on; called on the server's thread when the system can take
  /// them, in order.  Returns whether it could: false ends the connection.
  using Produce = std::function<bool(std::uint64_t offset, std::span<std::byte> into)>;
  /// Puts `bytes` bytes in line as frames of this kind, flags and tag, kMostStreamed each but for the last one.  Frames
  /// of send() pass between them, streams of one peer follow each other.  `ended`, if any, is called once, on the
  /// server's thread: with whether all bytes have been handed over.
  virtual void stream(FrameHead head, std::uint64_t bytes, Produce produce, std::function<void(bool)> ended) = 0;
  /// Ends the connection once what is in line has been sent, for a second at most.
  virtual void close() = 0;
};

/// What a server does.  Its functions are called on the server's thread, one at a time; they throw nothing and do not
/// wait.
class Service {
 public:
  virtual ~Service() = default;
  /// A process has proved that it knows the key.
  virtual void opened(const std::shared_ptr<Peer>& peer) = 0;
  /// One whole frame.
  virtual void received(const std::shared_ptr<Peer>& peer, const FrameHead& head, std::span<const std::byte> body) = 0;
  /// It has gone; why: for people.
  virtual void closed(const std::shared_ptr<Peer>& peer, const std::string& why) = 0;
};

/// Accepts whoever knows the key, IPv4 and IPv6 and locally.
///
/// UnauthenticatedConnections - who send something else, half a hello, or a wrong key - are refused within `hello`, before anything of
/// theirs is looked at but a proof of fixed length; more than `strangers` at a time wait in the kernel.
/// memory   For each peer at most kMostStreamed of what is streamed, kMostReceived of what comes, and the frames and
///          streams that are in line.  Of a peer for which `in_line` of these are, nothing more is taken in until half
///          of them have been: so who asks and does not take is answered `in_line` requests, and those of the last
///          64 KiB that were taken in.
/// forks    A child has nothing of it.
class Server {
 public:
  struct Options {
    /// Interface names (`eth1`), networks (`10.1.0.0/16`) or addresses, by commas, on which to be reached from other
    /// hosts; empty: all but loopback.  errors  kArgument: there is no such one; says which there are.
    std::string network;
    std::uint16_t first_port = 0;  ///< of a range for firewalls; 0: any
    std::uint16_t last_port = 0;
    bool other_hosts = true;  ///< whether these are to reach it as well
    int max_unauthenticated = 64;
    std::size_t max_queued = SIZE_MAX;  ///< frames and streams for one peer, which is not heard while there are more
    std::chrono::milliseconds hello{2000};
  };

  /// errors  kSystem: no socket can be had; kArgument: see Options.
  static std::unique_ptr<Server> start(const Key& key, std::shared_ptr<Service> service, const Options& options);
  /// The same for connections that are not cut into frames here.
  static std::unique_ptr<Server> start(const Key& key, std::shared_ptr<ConnectionTaker> taker, const Options& options);
  /// Ends the thread and all connections; the service is not called any more once it returns.
  virtual ~Server() = default;

  virtual const Endpoints& endpoints() const = 0;
  /// Calls a function on the server's thread.
  virtual void post(std::function<void()> body) = 0;
  /// How many connections have been refused so far.
  virtual std::int64_t refused() const = 0;
  /// Its thread, which may be asked for more once the server has ended, and does nothing then.
  virtual std::shared_ptr<EventLoop> loop() const = 0;
};

}  // namespace plait::transport::native
