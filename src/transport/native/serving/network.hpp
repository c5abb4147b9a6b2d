/// On which addresses a server is to be reached.
#pragma once

#include <string_view>
#include <vector>

#include "base/host/host.hpp"

namespace plait::transport::native {

/// Those of `all` that are chosen: interface names, networks (`10.1.0.0/16`) or addresses, by commas; empty: all but
/// loopback.  errors  kArgument: one of the choices chooses nothing; says which there are.
std::vector<base::host::NetworkAddress> choose_addresses(const std::vector<base::host::Interface>& all,
                                                         std::string_view choice);

}  // namespace plait::transport::native
