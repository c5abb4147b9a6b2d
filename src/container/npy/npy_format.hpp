/// NumPy's `.npy` files.
#pragma once

#include <string>

#include "container/format.hpp"

namespace plait::container::npy {

const Format& format();

/// What a .npy file states.  name: for errors.  errors  kSystem: damaged, and at which byte.
Content content_of(store::Store& store, const std::string& name);

}  // namespace plait::container::npy
