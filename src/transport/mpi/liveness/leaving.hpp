/// How this process tells the others that it takes part in nothing any more.
#pragma once

#include <string>

#include "transport/node/departure.hpp"

namespace plait::transport::mpi {

/// What can be told of it from now on, in words that follow "rank N": that it has left the program, and why, where
/// that is known.
/// threads  Any.
void set_leaving(const std::string& why);
bool is_leaving();
/// Tells in `departed` what became of it: that it has left the program, or else that it has freed the communicator.
/// Needs no memory.
void tell_what_became(node::Departed& departed) noexcept;

}  // namespace plait::transport::mpi
