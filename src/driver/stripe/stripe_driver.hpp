/// Bytes distributed round-robin over several disks: `stripe:NAME?disks=d1,d2&unit=64K`.
#pragma once

#include "driver/file_driver.hpp"

namespace plait::driver::stripe {

/// Returns the driver of names with the prefix `stripe:`.
const FileDriver& driver();

}  // namespace plait::driver::stripe
