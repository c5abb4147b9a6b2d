/// How this process tells the others that it takes part in nothing any more.
#pragma once

#include <string>

namespace plait::transport::mpi {

/// What can be told of it from now on, in words that follow "rank N": that it has left the program, and why, where
/// that is known.
/// threads  Any.
void set_leaving(const std::string& why);
bool is_leaving();
/// The same in short: "has left the program", or that it has freed the communicator.
std::string what_became();

}  // namespace plait::transport::mpi
