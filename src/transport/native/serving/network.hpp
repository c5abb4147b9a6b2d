/// Chooses the addresses at which a server can be reached.
#pragma once

#include <string_view>
#include <vector>

#include "base/host/host.hpp"

namespace plait::transport::native {

/// Returns the addresses of the interfaces in `all` that match `choice`: interface names, networks (`10.1.0.0/16`) or
/// addresses, separated by commas; empty: all but loopback.
/// errors  kArgument: a part of `choice` matches nothing; the error lists the interfaces.
std::vector<base::host::NetworkAddress> choose_addresses(const std::vector<base::host::Interface>& all,
                                                         std::string_view choice);

}  // namespace plait::transport::native
