/// NumPy's archives: .npy files in a zip file, read whether stored or deflated, and written stored.
#pragma once

#include "container/format.hpp"

namespace plait::container::npz {

const Format& format();

}  // namespace plait::container::npz
