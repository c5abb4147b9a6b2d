/// Exchanges the key and the addresses of the processes of a transport.
#pragma once

#include <string>
#include <vector>

#include "transport/native/address.hpp"
#include "transport/native/endpoints.hpp"
#include "transport/native/key.hpp"
#include "transport/transport.hpp"

namespace plait::transport::native {

/// Returns a random key, the same on all workers.  Collective.  errors  kSystem, on all: worker 0 has no random bytes.
Key agree_on_key(Transport& transport);

/// Returns the endpoints of all workers, by rank.  Collective.  If this worker has no endpoints, `error` is the reason;
/// otherwise it is empty.
/// cost    Two agreements for each node, and a broadcast of its addresses to all workers.
/// errors  kSystem, on all: a worker has an error; the message has its rank and the error.
std::vector<Endpoints> exchange_endpoints(Transport& transport, const Endpoints& own, const std::string& error);

/// Returns the addresses by which this process can reach another one: local ones on the same host, otherwise TCP.
std::vector<Address> find_usable_addresses(const Endpoints& to);

}  // namespace plait::transport::native
