/// One rank gives up what all have opened.
#pragma once

#include <cstdint>

#include "plait/comm.hpp"
#include "plait/error.hpp"

namespace plait::core {

/// Has the other ranks hear `error` in their next collective call, whatever it is, and remember that what has the
/// number `number` is given up.  Returns at once where collective calls may run on a thread of their own: whatever this
/// rank calls together with the others next is behind it.
/// errors  kSystem: no thread.
void give_up(const Comm& comm, std::int64_t number, const Error& error);

}  // namespace plait::core
