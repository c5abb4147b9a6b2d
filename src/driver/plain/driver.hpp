/// Ordinary files.
#pragma once

#include "driver/file_driver.hpp"

namespace plait::driver::plain {

/// Of names without a prefix: what they hold is told by their suffix.
const FileDriver& driver();
/// `raw:NAME`: raw elements, whatever the name looks like.
const FileDriver& raw_driver();

}  // namespace plait::driver::plain
