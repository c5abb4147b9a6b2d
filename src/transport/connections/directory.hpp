/// Where the processes of a communicator may be reached by sockets.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/connections/sockets.hpp"

namespace plait::transport::connections {

/// What all processes have told each other of themselves.
class Directory {
 public:
  struct Address {
    std::array<char, 40> boot{};  // of the host that is running
    std::uint64_t space = 0;      // of its networks: local sockets reach no further
    std::uint64_t cookie = 0;     // that callers must know
    std::uint16_t port = 0;       // 0: none
    std::uint16_t addresses = 0;
    std::uint32_t local = 0;  // whether there is a local socket
    std::array<NetworkAddress, 4> network{};

    /// Of its local socket.
    std::string local_name() const;
  };

  /// Of this process, without sockets.
  static Address own();
  Directory(int rank, std::vector<Address> all) : rank_(rank), all_(std::move(all)) {}

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(all_.size()); }
  const Address& mine() const { return of(rank_); }
  const Address& of(int peer) const { return all_[static_cast<std::size_t>(peer)]; }
  /// Of its socket for other hosts, where it has one.  An address that is this host's too leads here, not there: those
  /// of virtual networks are the same on many hosts.
  std::vector<sockaddr_in6> network_names(int peer) const;
  /// Whether local sockets reach a peer.
  bool near(int peer) const;
  /// The first rank after this one that is not near and has network names; -1: there is none.
  int first_far() const;

 private:
  int rank_ = 0;
  std::vector<Address> all_;
};

}  // namespace plait::transport::connections
