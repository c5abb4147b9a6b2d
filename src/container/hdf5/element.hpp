/// The types of elements of HDF5's datasets.
#pragma once

#include <cstdint>
#include <string>

#include "base/errors.hpp"
#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

struct Element {
  std::string dtype;  ///< as .npy files spell it
  std::string words;  ///< as h5dump calls it, without `H5T_`
  std::int64_t bytes = 0;
  base::Rejection rejection;  ///< why arrays of it cannot be opened
};

/// Integers and floats of both byte orders, booleans and other enumerations, complex numbers (of HDF5 2.0, and pairs
/// `r` and `i`), texts of fixed length, and opaque bytes; all others are rejected.
Element element_of(const Library& hdf5, hid_t type);

}  // namespace plait::container::hdf5
