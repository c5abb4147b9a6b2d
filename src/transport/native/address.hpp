/// An address of a server, and its forms as text and for system calls.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/host/host.hpp"

namespace plait::transport::native {

struct Address {
  struct Local {
    std::string name;
  };
  struct Tcp {
    base::host::NetworkAddress host{};
    std::uint16_t port = 0;
  };
  std::variant<Local, Tcp> where;

  bool is_local() const { return std::holds_alternative<Local>(where); }
  std::string text() const;
  /// Parses `local:NAME`, `tcp:10.0.0.1:4711` or `tcp:[2001:db8::1]:4711`.  Returns nothing for other texts.
  static std::optional<Address> parse(std::string_view text);
};

/// Formats an address as `10.0.0.1` or `2001:db8::1`; parse_network_address() is the inverse.
std::string network_text(const base::host::NetworkAddress& address);
std::optional<base::host::NetworkAddress> parse_network_address(std::string_view text);

/// A TCP address for system calls.  IPv4 addresses have the family AF_INET, so that hosts without IPv6 can use them.
struct SystemAddress {
  explicit SystemAddress(const Address::Tcp& address);
  const sockaddr* name() const { return reinterpret_cast<const sockaddr*>(&storage); }

  sockaddr_storage storage{};
  socklen_t length = 0;
};

}  // namespace plait::transport::native
