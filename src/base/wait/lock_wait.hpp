/// Waits for file locks that other programs hold.
#pragma once

#include "base/function_ref.hpp"

namespace plait::base {

/// Calls `try_lock`, which must not wait, at growing intervals until it returns true. A blocking system call would not
/// do: a signal may arrive on another thread than the waiting one, and would then not interrupt the call.
/// errors  kSystem, EINTR: the wait must end.
void wait_for_lock(FunctionRef<bool()> try_lock);

}  // namespace plait::base
