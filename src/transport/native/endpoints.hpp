/// Where a process may be reached.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plait::transport::native {

/// Addresses of a server, in the order in which they are tried: `local:NAME`, an abstract local socket, which processes
/// of the same host reach; `tcp:10.0.0.1:4711`; `tcp:[2001:db8::1]:4711`.
struct Endpoints {
  /// Names the host, as long as it runs, and its network: the same for two processes that reach each other locally.
  std::string host;
  /// The host's name, for people.
  std::string name;
  std::vector<std::string> addresses;

  /// One line without blanks at its ends.
  std::string text() const;
  /// errors  kArgument: not such a line.
  static Endpoints parse(std::string_view text);
  /// Whether this process is on the same host.
  bool near() const;
};

/// Host and name of this process, without addresses.
Endpoints own_host();

}  // namespace plait::transport::native
