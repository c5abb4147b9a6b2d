/// The system's sockets, and sleeping until one of them has something.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "transport/connections/sockets.hpp"

namespace plait::transport::connections {

/// All that it opens is closed in a forked child: by a child's copies peers would find a process alive that has ended.
///
/// threads  One at a time, but for wait(), which may run beside the others.
class PosixSockets : public Sockets {
 public:
  PosixSockets();

  bool usable() const override { return set_.number() >= 0; }
  Opened open_local(const std::string& name) override;
  Opened open_network(const sockaddr_in6& address) override;
  int outcome(int socket) override;
  void keep(int socket) override;
  bool send(int socket, std::span<const std::byte> bytes) override;
  std::ptrdiff_t receive(int socket, std::span<std::byte> into) override;
  bool hung_up(int socket) override;
  void close(int socket) override { open_.erase(socket); }

  /// Both return a listener, which is closed as any socket; -1: there is none.
  int listen_locally(const std::string& name);
  int listen_on_network(std::uint16_t& port);
  /// One that has connected to a listener, kept as by keep() where it came over a network; -1: no more have.
  int accept(int listener, bool from_network);
  /// Wakes who waits, also of a number that is not a socket.
  void watch(int number);
  void watch(int number, std::uint32_t events);

  /// Sleeps until something comes or the time is up.  Returns the front of `ready`: what has come, or ended.
  std::span<int> wait(std::chrono::microseconds longest, std::span<int> ready) const;
  /// Nothing wakes any more.
  void stop() { set_.close(); }

 private:
  int take(int socket);

  base::Descriptor set_;  // of all that is waited on
  std::map<int, base::Descriptor> open_;
};

}  // namespace plait::transport::connections
