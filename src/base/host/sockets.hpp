/// What all sockets of this host have in common.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <string_view>

namespace plait::base::host {

/// An abstract local socket's: without a file.
struct LocalAddress {
  /// Longer names are cut.
  explicit LocalAddress(std::string_view text);
  const sockaddr* name() const { return reinterpret_cast<const sockaddr*>(&address); }

  static constexpr std::size_t kMostBytes = sizeof(sockaddr_un::sun_path) - 1;
  sockaddr_un address{};
  socklen_t length = 0;
};

/// Of a TCP socket: nothing that is sent waits for more, and while nothing is under way a lost host is found within 9
/// s, before MPICH's UCX does, which takes 16 s and may crash then.
void keep_alive(int socket);
/// Whether the other host has not answered for 9 s what was sent, or whether there is room for more, though it was
/// asked again.  One that answers, and whose program takes nothing, is there.
bool is_silent(int socket);

/// A local socket holds so many bytes that have been sent, where the system permits.
void widen(int socket, std::size_t bytes);

}  // namespace plait::base::host
