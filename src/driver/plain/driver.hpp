/// Ordinary files.
#pragma once

#include "container/container.hpp"
#include "driver/file_driver.hpp"

namespace plait::driver::plain {

/// Of names without a prefix: what files hold is decided by their content, what new ones are to hold by their names.
const FileDriver& driver();
/// Where a name leads whose file holds, or is to hold, what is of that format.
Located locate(const std::string& name, const container::Container& holds);
/// `raw:NAME`: raw elements, whatever the name looks like.
const FileDriver& raw_driver();

}  // namespace plait::driver::plain
