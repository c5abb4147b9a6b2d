/// This host, as others tell it apart and reach it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace plait::base::host {

/// IPv4 addresses as IPv6 writes them, so that one kind of socket does for both.
using NetworkAddress = std::array<std::uint8_t, 16>;

bool is_ipv4(const NetworkAddress& address);

/// An address of an interface of this host.  Link-local ones of IPv6 are left out: they need a zone.
struct Interface {
  std::string name;
  NetworkAddress address{};
  bool loopback = false;
};

/// IPv4 first.
std::vector<Interface> interfaces();
/// Where others may reach this host: IPv4 first.
std::vector<NetworkAddress> own_addresses();

/// Differs for all hosts, and for all times that one has been started; empty where the system does not say.
std::string boot_id();
/// Which networks this process sees: local sockets reach no further.  0 where the system does not say.
std::uint64_t network_space();

}  // namespace plait::base::host
