/// Giving up an object that all ranks have opened.
#pragma once

#include <cstdint>

#include "plait/comm.hpp"
#include "plait/error.hpp"

namespace plait::core {

/// Makes the next collective call of the other ranks fail with `error`, whichever call it is, and records on all ranks
/// that the object with the number `number` is given up.  Returns at once if collective calls may run on a thread of
/// their own: collective calls that this rank makes later come after it.
/// errors  kSystem: no thread.
void give_up(const Comm& comm, std::int64_t number, const Error& error);

}  // namespace plait::core
