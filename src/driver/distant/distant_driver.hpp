/// Arrays on the ranks' own disks: `distant:NAME?folder=/disk&unit=64K&striped=true`.
#pragma once

#include "driver/collective_driver.hpp"

namespace plait::driver::distant {

/// Returns the driver of names with the prefix `distant:`.
const CollectiveDriver& driver();

}  // namespace plait::driver::distant
