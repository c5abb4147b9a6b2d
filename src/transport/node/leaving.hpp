/// How this process tells the others that it takes part in nothing any more.
#pragma once

#include <cstdint>
#include <string>

#include "transport/node/departure.hpp"

namespace plait::transport::node {

/// What can be told of it from now on, in words that follow "rank N": that it has left the program, and why, where
/// that is known.
/// threads  Any.
void set_leaving(const std::string& why);
bool is_leaving();
/// Records that this process, which is `worker` of a communicator, takes part in no further agreement there than the
/// first `calls`: that it has left the program, or else that it has freed the communicator.  Needs no memory.
void record_departure(Departure& departure, int worker, std::int64_t calls) noexcept;

}  // namespace plait::transport::node
