/// The sockets on which a server listens.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.hpp"

namespace plait::transport::native {

/// An abstract local socket that listens, and its name.
struct LocalListener {
  base::Descriptor socket;
  std::string name;
};

/// Listens on an abstract local socket with a random name.  errors  kSystem: it cannot be created.
LocalListener listen_locally();

/// A TCP socket that listens on all addresses of this host.
struct TcpListener {
  base::Descriptor socket;
  std::uint16_t port = 0;
  bool ipv6 = true;  ///< true: accepts IPv6 and IPv4; false: only IPv4
};

/// Listens on the first free port of a range; 0 and 0 mean any port.
/// errors  kSystem: the socket cannot be created; EADDRINUSE: all ports are taken.
TcpListener listen_on_network(std::uint16_t first_port, std::uint16_t last_port);

}  // namespace plait::transport::native
