/// Giving up an object that all ranks have opened.
#pragma once

#include <cstdint>

#include "plait/comm.hpp"
#include "plait/error.hpp"

namespace plait::core {

/// Gives up an object, such as a file, that has the number `number` on its Comm.  Makes the next collective call of the
/// other ranks fail with `error`, whichever call it is, and records on all ranks that the object is given up.  If the
/// Comm's worker has a thread, returns at once; collective calls that this rank makes later run after this one.
/// errors  kSystem: no thread.
void give_up(const Comm& comm, std::int64_t number, const Error& error);

}  // namespace plait::core
