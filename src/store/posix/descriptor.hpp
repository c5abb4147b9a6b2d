/// Names for opening files, and for the errors of system calls on them.
#pragma once

#include "base/descriptor.hpp"
#include "base/files/open_file.hpp"

namespace plait::store::posix {

using base::Descriptor;
using base::open_file;
using base::system_error;

}  // namespace plait::store::posix
