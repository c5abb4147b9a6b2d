/// NumPy's `.npy` files.
#pragma once

#include "container/container.hpp"

namespace plait::container::npy {

const Container& container();

}  // namespace plait::container::npy
