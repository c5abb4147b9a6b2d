#include "transport/native/serving/network.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "transport/native/address.hpp"

namespace plait::transport::native {

namespace {

/// The addresses that agree with `begin` in the first `bits` bits.
struct Network {
  base::host::NetworkAddress begin{};
  unsigned bits = 0;

  bool contains(const base::host::NetworkAddress& address) const {
    if (base::host::is_ipv4(begin) != base::host::is_ipv4(address)) return false;
    const std::size_t full_bytes = bits / 8;
    if (!std::equal(begin.begin(), begin.begin() + static_cast<std::ptrdiff_t>(full_bytes), address.begin()))
      return false;
    const unsigned remaining_bits = bits % 8;
    return remaining_bits == 0 || ((begin[full_bytes] ^ address[full_bytes]) >> (8 - remaining_bits)) == 0;
  }
};

/// Parses `10.1.0.0/16`, `10.1.0.1`, and IPv6 likewise.
std::optional<Network> parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto begin = parse_network_address(text.substr(0, slash));
  if (!begin) return std::nullopt;
  const unsigned max_bits = base::host::is_ipv4(*begin) ? 32 : 128;
  unsigned bits = max_bits;
  if (slash != std::string_view::npos) {
    const std::string_view number = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bits);
    if (error != std::errc{} || end != number.data() + number.size() || bits > max_bits) return std::nullopt;
  }
  return Network{*begin, bits + 128 - max_bits};  // IPv4 addresses are stored in the last 32 of 128 bits
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

[[noreturn]] void throw_unknown_network(std::string_view choice, const std::vector<base::host::Interface>& all) {
  std::string available;
  for (const base::host::Interface& interface : all) {
    if (!available.empty()) available += ", ";
    available += interface.name + ' ' + network_text(interface.address);
  }
  base::throw_argument_error("'", choice, "' is no interface, network or address of this host; it has ",
                             available.empty() ? "none" : available);
}

}  // namespace

std::vector<base::host::NetworkAddress> choose_addresses(const std::vector<base::host::Interface>& all,
                                                         std::string_view choice) {
  std::vector<base::host::NetworkAddress> found;
  const auto add_all = [&](const auto& is_chosen) {
    bool any = false;
    for (const base::host::Interface& interface : all) {
      if (!is_chosen(interface)) continue;
      any = true;
      if (std::find(found.begin(), found.end(), interface.address) == found.end()) found.push_back(interface.address);
    }
    return any;
  };
  if (trimmed(choice).empty()) {
    add_all([](const base::host::Interface& interface) { return !interface.loopback; });
    return found;
  }
  for (std::size_t begin = 0; begin <= choice.size();) {
    const std::size_t end = std::min(choice.find(',', begin), choice.size());
    const std::string_view word = trimmed(choice.substr(begin, end - begin));
    begin = end + 1;
    const auto network = parse_network(word);
    const bool any =
        network ? add_all([&](const base::host::Interface& interface) { return network->contains(interface.address); })
                : add_all([&](const base::host::Interface& interface) { return interface.name == word; });
    if (!any) throw_unknown_network(word, all);
  }
  return found;
}

}  // namespace plait::transport::native
