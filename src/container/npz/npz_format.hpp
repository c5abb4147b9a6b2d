/// NumPy's archives: zip files of .npy files, which may be stored or deflated when read, and are written stored.
#pragma once

#include "container/format.hpp"

namespace plait::container::npz {

const Format& format();

}  // namespace plait::container::npz
