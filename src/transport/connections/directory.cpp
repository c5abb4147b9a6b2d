#include "transport/connections/directory.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include "base/text.hpp"

namespace plait::transport::connections {

std::string Directory::Address::local_name() const { return base::text("plait-bell-", cookie); }

Directory::Address Directory::own() {
  Address mine;
  std::random_device random;
  mine.cookie = (std::uint64_t{random()} << 32U) + random();
  const std::string boot = host::boot_id();
  std::copy_n(boot.begin(), std::min(boot.size(), mine.boot.size() - 1), mine.boot.begin());
  mine.space = host::network_space();
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
