/// Opening files, and the errors of the system calls on them.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "plait/error.hpp"

namespace plait::base {

/// `cannot read field.npy at offset 128: Input/output error`; `what` is `read field.npy at offset 128`.
Error system_error(const std::string& what, int code);

/// `shown` is the name that errors use, where it is not the path itself.
/// errors  kSystem: the path and why it cannot be opened, with a hint for a missing folder and missing permission.
Descriptor open_file(const std::string& path, int flags, unsigned mode = 0666, const std::string& shown = {});

}  // namespace plait::base
