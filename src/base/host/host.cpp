#include "base/host/host.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace plait::base::host {

bool is_ipv4(const NetworkAddress& address) {
  return std::all_of(address.begin(), address.begin() + 10, [](auto byte) { return byte == 0; }) &&
         address[10] == 0xff && address[11] == 0xff;
}

std::vector<Interface> interfaces() {
  std::vector<Interface> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  auto networks = std::ptrdiff_t{0};  // number of IPv4 addresses, which come first
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    Interface interface{one->ifa_name, {}, false};
    if (one->ifa_addr->sa_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
      interface.loopback = (ntohl(v4->sin_addr.s_addr) >> 24U) == 127;
      interface.address[10] = interface.address[11] = 0xff;
      std::memcpy(interface.address.data() + 12, &v4->sin_addr, 4);
      found.insert(found.begin() + networks++, std::move(interface));
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
      interface.loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
      std::memcpy(interface.address.data(), &v6->sin6_addr, 16);
      found.push_back(std::move(interface));
    }
  }
  ::freeifaddrs(all);
  return found;
}

std::vector<NetworkAddress> own_addresses() {
  std::vector<NetworkAddress> found;
  for (const Interface& one : interfaces())
    if (!one.loopback) found.push_back(one.address);
  return found;
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  file.exceptions(std::ios::badbit);  // a lack of memory is not an end of the file
  std::string id;
  std::getline(file, id);
  return id;
}

std::uint64_t network_space() {
  struct stat space{};
  return ::stat("/proc/self/ns/net", &space) == 0 ? space.st_ino : 0;
}

}  // namespace plait::base::host
