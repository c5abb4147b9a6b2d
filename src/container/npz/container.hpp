/// NumPy's archives: .npy files in a zip file, read whether stored or deflated, and written stored.
#pragma once

#include "container/container.hpp"

namespace plait::container::npz {

const Container& container();

}  // namespace plait::container::npz
