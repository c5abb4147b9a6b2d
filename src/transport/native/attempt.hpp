/// Connects to one address of a server.
#pragma once

#include <string>

#include "base/descriptor.hpp"
#include "transport/native/address.hpp"
#include "transport/native/frame.hpp"
#include "transport/native/key.hpp"

namespace plait::transport::native {

struct AttemptResult {
  base::Descriptor socket;  ///< the connection after its handshake; none if the attempt failed
  int code = 0;             ///< errno of a failure
  std::string why;          ///< reason of a failure, for messages
  bool was_closed = false;  ///< the connection was accepted and then closed
};

/// Connects to an address and performs the handshake.  If the server closes the connection, tries again
/// (retry_policy.hpp).
/// errors  kSystem: the system gives no random bytes.
AttemptResult connect_to_server(const Address& to, const Key& key, Clock::time_point until);

}  // namespace plait::transport::native
