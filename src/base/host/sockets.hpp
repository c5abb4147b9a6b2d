/// The common settings of all sockets on this host.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <string_view>

namespace plait::base::host {

/// The address of an abstract local socket, which has no file.
struct LocalAddress {
  /// Truncates longer names.
  explicit LocalAddress(std::string_view text);
  const sockaddr* name() const { return reinterpret_cast<const sockaddr*>(&address); }

  static constexpr std::size_t kMaxBytes = sizeof(sockaddr_un::sun_path) - 1;
  sockaddr_un address{};
  socklen_t length = 0;
};

/// Sets the options of a TCP socket: data is sent without delay, and a lost host is detected within 9 s even if nothing
/// is under way, before MPICH's UCX detects it, which takes 16 s and may then crash.
void keep_alive(int socket);
/// Returns true if the other host has not acknowledged data, or answered probes of a full window, for 9 s.  A host that
/// answers, but whose program reads nothing, is not silent.
bool is_silent(int socket);

/// Sets the size of the send buffer of a local socket, as far as the system permits.
void set_send_buffer(int socket, std::size_t bytes);

}  // namespace plait::base::host
