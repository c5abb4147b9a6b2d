/// Opens files, and composes the errors of system calls on files.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "plait/error.hpp"

namespace plait::base {

/// Makes an error such as `cannot read field.npy at offset 128: Input/output error`; `what` is `read field.npy at
/// offset 128`.
Error system_error(const std::string& what, int code);

/// Opens a file. Errors use the name `shown`, if it is not empty, instead of the path.
/// errors  kSystem: the path and the reason, with a hint for a missing folder and missing permission.
Descriptor open_file(const std::string& path, int flags, unsigned mode = 0666, const std::string& shown = {});

}  // namespace plait::base
