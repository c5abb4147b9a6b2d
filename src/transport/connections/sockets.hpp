/// What connections need of the system's sockets.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "transport/host/host.hpp"

namespace plait::transport::connections {

using host::NetworkAddress;

/// Sockets by the system's numbers.  None of the functions waits, and a forked child has none of the sockets.
class Sockets {
 public:
  struct Opened {
    int socket = -1;
    int code = 0;      ///< the system's where there is no socket, EINPROGRESS where the connection is being made
    bool made = true;  ///< whether this process could make a socket, wherever it leads
  };
  /// What receive() returns besides a number of bytes.
  static constexpr std::ptrdiff_t kNothingYet = -1;
  static constexpr std::ptrdiff_t kEnd = 0;

  virtual ~Sockets() = default;
  /// Whether there is anything to wait on them by; nothing is to be opened else.
  virtual bool usable() const = 0;
  /// A connection to the local socket of a name; the handler is woken by what comes.
  virtual Opened open_local(const std::string& name) = 0;
  /// Begins a connection; the handler is woken when its outcome is known.
  virtual Opened open_network(const sockaddr_in6& address) = 0;
  /// 0: it is there.  EINPROGRESS: not known yet.  Else why there is none.
  virtual int outcome(int socket) = 0;
  /// Of one that is there: the handler is woken by what comes, and by its end within 14 s where the host is lost.
  virtual void keep(int socket) = 0;
  /// Whether all bytes found room.
  virtual bool send(int socket, std::span<const std::byte> bytes) = 0;
  virtual std::ptrdiff_t receive(int socket, std::span<std::byte> into) = 0;
  /// Whether the other end has closed, or an error is known.
  virtual bool hung_up(int socket) = 0;
  virtual void close(int socket) = 0;
};

}  // namespace plait::transport::connections
