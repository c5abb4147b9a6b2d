/// The host and the addresses at which a process can be reached.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plait::transport::native {

/// The endpoints of a server.  Addresses are tried in their order: `local:NAME` is an abstract local socket, for
/// processes of the same host; others are `tcp:10.0.0.1:4711` and `tcp:[2001:db8::1]:4711`.
struct Endpoints {
  /// Identifies the running host (by its boot id) and the network namespace: equal for processes that can reach each
  /// other by local sockets.
  std::string host;
  /// The host's name, for messages.
  std::string name;
  std::vector<std::string> addresses;

  /// Returns the endpoints as one line: host, name and addresses, separated by single blanks.
  std::string text() const;
  /// Parses the result of text().
  /// errors  kArgument: the text is not such a line.
  static Endpoints parse(std::string_view text);
  /// Returns true if this process is on the same host, in the same network namespace.
  bool is_on_this_host() const;
};

/// Returns the host and the name of this process, without addresses.
Endpoints own_host();

}  // namespace plait::transport::native
