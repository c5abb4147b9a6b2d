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
  std::vector<Interface> result;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return result;
  auto ipv4_count = std::ptrdiff_t{0};  // IPv4 addresses are inserted before all others
  for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    Interface interface{entry->ifa_name, {}, false};
    if (entry->ifa_addr->sa_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
      interface.loopback = (ntohl(v4->sin_addr.s_addr) >> 24U) == 127;
      interface.address[10] = interface.address[11] = 0xff;
      std::memcpy(interface.address.data() + 12, &v4->sin_addr, 4);
      result.insert(result.begin() + ipv4_count++, std::move(interface));
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
      interface.loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
      std::memcpy(interface.address.data(), &v6->sin6_addr, 16);
      result.push_back(std::move(interface));
    }
  }
  ::freeifaddrs(all);
  return result;
}

std::vector<NetworkAddress> own_addresses() {
  std::vector<NetworkAddress> result;
  for (const Interface& interface : interfaces())
    if (!interface.loopback) result.push_back(interface.address);
  return result;
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  file.exceptions(std::ios::badbit);  // otherwise a lack of memory would look like the end of the file
  std::string id;
  std::getline(file, id);
  return id;
}

std::uint64_t network_namespace_id() {
  struct stat space{};
  return ::stat("/proc/self/ns/net", &space) == 0 ? space.st_ino : 0;
}

}  // namespace plait::base::host
