/// Arrays in memory, for trials and tests: `memory:NAME`.
#pragma once

#include "driver/collective_driver.hpp"

namespace plait::driver::memory {

/// Returns the driver of names with the prefix `memory:`. NAME belongs to the process: its array exists until the
/// process ends or creates another one with that name. The ranks that create an array together, on one node, share its
/// bytes.
const CollectiveDriver& driver();

}  // namespace plait::driver::memory
