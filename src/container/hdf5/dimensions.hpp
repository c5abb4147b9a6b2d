/// Names of the dimensions of datasets (HDF5 Dimension Scale Specification), which netCDF-4 has as well.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

struct Dimensions {
  /// One for each dimension: the address of the dataset that is its scale, 0 without one.  Or none at all.
  std::vector<Address> scales;
  /// One for each dimension, empty without one.  Or none at all.
  std::vector<std::string> labels;
  /// Whether the dataset is a scale itself.
  bool is_scale = false;
};

/// Of a dataset that has so many.
Dimensions dimensions_of(const Library& hdf5, Id dataset, std::size_t count);

/// The last part of the name of an object; empty where it has none.
std::string name_of(const Library& hdf5, Id file, Address object);

}  // namespace plait::container::hdf5
