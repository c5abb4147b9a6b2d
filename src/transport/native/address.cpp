#include "transport/native/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/host/sockets.hpp"
#include "base/text.hpp"

namespace plait::transport::native {

namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::string network_text(const base::host::NetworkAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (base::host::is_ipv4(address)) {
    ::inet_ntop(AF_INET, address.data() + 12, text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  }
  return text.data();
}

std::optional<base::host::NetworkAddress> parse_network_address(std::string_view text) {
  const std::string terminated(text.substr(0, 64));
  base::host::NetworkAddress address{};
  if (::inet_pton(AF_INET6, terminated.c_str(), address.data()) == 1) return address;
  address = {};
  address[10] = address[11] = 0xff;
  if (::inet_pton(AF_INET, terminated.c_str(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

std::string Address::text() const {
  if (const auto* local_address = std::get_if<Local>(&where)) return "local:" + local_address->name;
  const auto& [host, port] = std::get<Tcp>(where);
  return base::host::is_ipv4(host) ? base::text("tcp:", network_text(host), ':', port)
                                   : base::text("tcp:[", network_text(host), "]:", port);
}

std::optional<Address> Address::parse(std::string_view text) {
  constexpr std::string_view kLocal = "local:";
  constexpr std::string_view kTcp = "tcp:";
  if (text.starts_with(kLocal)) {
    const std::string_view name = text.substr(kLocal.size());
    if (name.empty() || name.size() > base::host::LocalAddress::kMaxBytes ||
        !std::all_of(name.begin(), name.end(), is_name_character))
      return std::nullopt;
    return Address{Local{std::string(name)}};
  }
  if (!text.starts_with(kTcp)) return std::nullopt;
  text.remove_prefix(kTcp.size());
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_port(text.substr(colon + 1));
  std::string_view shown = text.substr(0, colon);
  const bool bracketed = shown.size() >= 2 && shown.front() == '[' && shown.back() == ']';
  if (bracketed) shown = shown.substr(1, shown.size() - 2);
  const auto host_address = parse_network_address(shown);
  if (!port || !host_address || bracketed != (shown.find(':') != std::string_view::npos)) return std::nullopt;
  return Address{Tcp{*host_address, *port}};
}

SystemAddress::SystemAddress(const Address::Tcp& address) {
  if (base::host::is_ipv4(address.host)) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    std::memcpy(&v4.sin_addr, address.host.data() + 12, 4);
    std::memcpy(&storage, &v4, sizeof v4);
    length = sizeof v4;
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    std::memcpy(&v6.sin6_addr, address.host.data(), 16);
    std::memcpy(&storage, &v6, sizeof v6);
    length = sizeof v6;
  }
}

}  // namespace plait::transport::native
