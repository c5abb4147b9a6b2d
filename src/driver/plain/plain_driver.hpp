/// Ordinary files.
#pragma once

#include "container/format.hpp"
#include "driver/file_driver.hpp"

namespace plait::driver::plain {

/// Handles names without a prefix: the content of existing files and the names of new files determine the format.
const FileDriver& driver();
/// Describes a file that has, or will have, the given format, without a look at its path.
Located describe(const std::string& name, const container::Format& holds);
/// Locates a file that holds, or will hold, the given format.
Located locate(const std::string& name, const container::Format& holds);
/// `raw:NAME`: raw elements, whatever the name looks like.
const FileDriver& raw_driver();

}  // namespace plait::driver::plain
