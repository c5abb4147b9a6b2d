/// The types of elements of HDF5's datasets.
#pragma once

#include <cstdint>
#include <string>

#include "base/errors.hpp"
#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

struct Element {
  std::string dtype;        ///< the type in the notation of .npy files
  std::string description;  ///< the name of the type in h5dump, without `H5T_`
  std::int64_t bytes = 0;
  base::Rejection rejection;  ///< the reason why arrays of this type cannot be opened
};

/// Describes a type of the HDF5 library. It accepts integers and floats of both byte orders, booleans and other
/// enumerations, complex numbers (of HDF5 2.0, and pairs `r` and `i`), texts, and opaque bytes. All other types are
/// rejected.
Element to_element(const Library& hdf5, hid_t type);

}  // namespace plait::container::hdf5
