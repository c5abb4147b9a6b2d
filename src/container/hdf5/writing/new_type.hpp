/// The types of elements of new datasets.
#pragma once

#include <string>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// Makes the type that to_element() converts to `dtype`, which is in the notation of .npy files. Booleans and complex
/// numbers are stored as h5py stores them. Returns an invalid handle if HDF5 has no such type.
Handle new_type(const Library& hdf5, const std::string& dtype);

}  // namespace plait::container::hdf5
