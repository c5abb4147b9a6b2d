/// Pipes to other programs: `pipe:NAME`.
#pragma once

#include "driver/driver.hpp"

namespace plait::driver::pipe {

/// Returns the driver of names with the prefix `pipe:`.
const Driver& driver();

}  // namespace plait::driver::pipe
