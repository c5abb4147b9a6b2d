/// Settings of the HTTP client that follow from the network and the server; `plait bench objects` measures them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plait::store::http {

/// Returns the maximum number of requests of this process that are in flight, each on a connection of its own:
/// PLAIT_HTTP_CONNECTIONS, or 64. The first call reads the environment.
/// errors  kArgument: the variable is not a number from 1 to 1000.
std::size_t max_in_flight();

/// Returns the maximum bytes of a range that one request reads: PLAIT_HTTP_PIECE, or 4 MiB. The first call reads the
/// environment.
/// errors  kArgument: the variable is not a number from 65536 to 1073741824.
std::int64_t piece_bytes();

}  // namespace plait::store::http
