/// The identity of this host, and the addresses at which others reach it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace plait::base::host {

/// IPv4 addresses are mapped to IPv6, so that one kind of socket serves both.
using NetworkAddress = std::array<std::uint8_t, 16>;

bool is_ipv4(const NetworkAddress& address);

/// An address of an interface of this host.  Link-local addresses of IPv6 are left out, because they need a zone.
struct Interface {
  std::string name;
  NetworkAddress address{};
  bool loopback = false;
};

/// Returns all addresses, IPv4 first.
std::vector<Interface> interfaces();
/// Returns the addresses at which others may reach this host, IPv4 first.
std::vector<NetworkAddress> own_addresses();

/// Returns a text that differs between hosts, and between boots of one host; empty if the system does not provide it.
std::string boot_id();
/// Returns the identity of the network namespace of this process, within which abstract local sockets are visible; 0 if
/// the system does not provide it.
std::uint64_t network_namespace_id();

}  // namespace plait::base::host
