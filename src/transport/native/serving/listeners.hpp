/// The sockets that others connect to.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.hpp"

namespace plait::transport::native {

struct LocalListener {
  base::Descriptor socket;
  std::string name;
};

/// Under a random name.  errors  kSystem: there can be none.
LocalListener listen_locally();

struct TcpListener {
  base::Descriptor socket;
  std::uint16_t port = 0;
  bool ipv6 = true;  ///< as well as IPv4
};

/// On a port of the range; 0, 0: any.  errors  kSystem: there can be none; EADDRINUSE: all are taken.
TcpListener listen_on_network(std::uint16_t first_port, std::uint16_t last_port);

}  // namespace plait::transport::native
