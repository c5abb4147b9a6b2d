/// Where the processes of a transport may be reached, and the key that lets them in.
#pragma once

#include <string>
#include <vector>

#include "transport/native/address.hpp"
#include "transport/native/endpoints.hpp"
#include "transport/native/key.hpp"
#include "transport/transport.hpp"

namespace plait::transport::native {

/// The same random key on all.  Collective.  errors  kSystem, on all: worker 0 has no random bytes.
Key agree_on_key(Transport& transport);

/// Those of all workers, by rank.  Collective; `trouble`, where it is not empty, is why this worker has none.
/// cost    Two agreements for each node, and its addresses once to all.
/// errors  kSystem, on all: a worker has trouble; says which, and what.
std::vector<Endpoints> exchange_endpoints(Transport& transport, const Endpoints& own, const std::string& trouble);

/// Those that lead from this process to another one.
std::vector<Address> leading_to(const Endpoints& to);

}  // namespace plait::transport::native
