#include "transport/connections/directory.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <span>

#include "base/text.hpp"

namespace plait::transport::connections {

std::vector<NetworkAddress> own_addresses() {
  std::vector<NetworkAddress> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    NetworkAddress address{};
    if (one->ifa_addr->sa_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
      if ((ntohl(v4->sin_addr.s_addr) >> 24U) == 127) continue;
      address[10] = address[11] = 0xff;
      std::memcpy(address.data() + 12, &v4->sin_addr, 4);
      found.insert(found.begin(), address);  // in front: they need no zone
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
      if (IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
      std::memcpy(address.data(), &v6->sin6_addr, 16);
      found.push_back(address);
    }
  }
  ::freeifaddrs(all);
  return found;
}

std::string Directory::Address::local_name() const { return base::text("plait-bell-", cookie); }

Directory::Address Directory::own() {
  Address mine;
  std::random_device random;
  mine.cookie = (std::uint64_t{random()} << 32U) + random();
  std::ifstream("/proc/sys/kernel/random/boot_id")
      .read(mine.boot.data(), static_cast<std::streamsize>(mine.boot.size()) - 1);
  struct stat space{};
  if (::stat("/proc/self/ns/net", &space) == 0) mine.space = space.st_ino;
  return mine;
}

std::vector<sockaddr_in6> Directory::network_names(int peer) const {
  const auto own = std::span(mine().network).first(mine().addresses);
  std::vector<sockaddr_in6> names;
  if (of(peer).port == 0) return names;
  for (const auto& one : std::span(of(peer).network).first(of(peer).addresses)) {
    const bool here = std::find(own.begin(), own.end(), one) != own.end();
    if (here && mine().boot != of(peer).boot) continue;
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(of(peer).port);
    std::memcpy(&name.sin6_addr, one.data(), one.size());
    names.push_back(name);
  }
  return names;
}

bool Directory::near(int peer) const {
  const Address& theirs = of(peer);
  return theirs.local != 0 && mine().boot == theirs.boot && mine().space == theirs.space;
}

int Directory::first_far() const {
  for (int step = 1; step < size(); ++step)
    if (const int peer = (rank_ + step) % size(); !near(peer) && !network_names(peer).empty()) return peer;
  return -1;
}

}  // namespace plait::transport::connections
