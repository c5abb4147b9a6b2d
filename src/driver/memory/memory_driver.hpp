/// Arrays in memory, for trials and tests: `memory:NAME`.
#pragma once

#include "driver/collective_driver.hpp"

namespace plait::driver::memory {

/// NAME belongs to the process: what it holds stays until the process ends, or makes another array of that name.  The
/// ranks that make one together, on one node, share its bytes.
const CollectiveDriver& driver();

}  // namespace plait::driver::memory
