/// NumPy's `.npy` files.
#pragma once

#include <string>

#include "container/format.hpp"

namespace plait::container::npy {

const Format& format();

/// Reads the type and the offset of the array from the header of a .npy file. name: the name of the file in errors.
/// errors  kSystem: the file is damaged; the message states where.
Content read_content(store::Store& store, const std::string& name);

}  // namespace plait::container::npy
