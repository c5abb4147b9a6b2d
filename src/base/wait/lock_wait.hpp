/// Waits for locks of files that other programs hold.
#pragma once

#include "base/function_ref.hpp"

namespace plait::base {

/// Calls `try_lock`, which does not wait, until it returns true: in growing naps, since a signal may come to another
/// thread than the one that waits, and ends no call of the system then.
/// errors  kSystem, EINTR: the wait is to end.
void wait_for_lock(FunctionRef<bool()> try_lock);

}  // namespace plait::base
