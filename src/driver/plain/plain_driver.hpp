/// Ordinary files.
#pragma once

#include "container/format.hpp"
#include "driver/file_driver.hpp"

namespace plait::driver::plain {

/// Returns the driver of names without a prefix: the content of existing files and the names of new files determine the
/// format.
const FileDriver& driver();
/// Describes a file that has, or will have, the given format, without resolving its path.
ResolvedName describe(const std::string& name, const container::Format& format);
/// Resolves the name of a file that has, or will have, the given format.
ResolvedName locate(const std::string& name, const container::Format& format);
/// Returns the driver of `raw:NAME`: raw elements, regardless of the suffix.
const FileDriver& raw_driver();

}  // namespace plait::driver::plain
