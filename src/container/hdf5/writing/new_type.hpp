/// The types of elements of new datasets.
#pragma once

#include <string>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// The type that element_of() takes for `dtype`, which is spelled as in .npy files.  Booleans and complex numbers are
/// what h5py writes for them.  Not open: HDF5 has none.
Handle new_type(const Library& hdf5, const std::string& dtype);

}  // namespace plait::container::hdf5
