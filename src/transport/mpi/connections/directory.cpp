#include "transport/mpi/connections/directory.hpp"

#include <arpa/inet.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <span>

#include "base/text.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

Directory::Directory(MPI_Comm comm) : comm_(comm) {
  int size = 1;
  check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  all_.resize(static_cast<std::size_t>(size));
  std::random_device random;
  mine().cookie = (std::uint64_t{random()} << 32U) + random();
  std::ifstream("/proc/sys/kernel/random/boot_id")
      .read(mine().boot.data(), static_cast<std::streamsize>(mine().boot.size()) - 1);
  struct stat space{};
  if (::stat("/proc/self/ns/net", &space) == 0) mine().space = space.st_ino;
}

void Directory::exchange() {
  const Address told = mine();
  check(MPI_Allgather(&told, sizeof told, MPI_BYTE, all_.data(), sizeof told, MPI_BYTE, comm_), "MPI_Allgather");
}

std::string Directory::local_name(int peer) const { return base::text("plait-bell-", of(peer).cookie); }

std::vector<sockaddr_in6> Directory::network_names(int peer) const {
  const auto own = std::span(of(rank_).network).first(of(rank_).addresses);
  std::vector<sockaddr_in6> names;
  if (of(peer).port == 0) return names;
  for (const auto& one : std::span(of(peer).network).first(of(peer).addresses)) {
    const bool here = std::find(own.begin(), own.end(), one) != own.end();
    if (here && of(rank_).boot != of(peer).boot) continue;
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
  return theirs.local != 0 && of(rank_).boot == theirs.boot && of(rank_).space == theirs.space;
}

int Directory::first_far() const {
  for (int step = 1; step < size(); ++step)
    if (const int peer = (rank_ + step) % size(); !near(peer) && !network_names(peer).empty()) return peer;
  return -1;
}

}  // namespace plait::transport::mpi
