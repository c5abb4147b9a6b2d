/// Attributes of new datasets and groups.
#pragma once

#include <string>

#include "base/errors.hpp"
#include "container/hdf5/library.hpp"
#include "plait/array_description.hpp"

namespace plait::container::hdf5 {

/// Returns the reason why an HDF5 file, or a netCDF file, cannot store an attribute; empty if it can.
base::Rejection hdf5_rejection(const ArrayAttribute& attribute, bool is_netcdf);

/// Writes an attribute. is_netcdf: write it as netCDF does, as a list of numbers or a text of fixed length. For complex
/// numbers and bytes a named type is added to the file, without which netCDF's library does not show them.
/// errors  kArgument: hdf5_rejection(). kSystem: the library fails.
void write_attribute(const Library& hdf5, hid_t object, const ArrayAttribute& attribute, bool is_netcdf,
                     const std::string& display_name);

/// The values of an attribute in memory.
struct RawValues {
  const Handle& type;
  const Handle& space;
  const void* begin = nullptr;
};

/// Writes values.  errors  kSystem: the library fails.
void write_values(const Library& hdf5, hid_t object, const std::string& name, const RawValues& values,
                  const std::string& display_name);

/// Writes a text with a terminating NUL, as in the attributes that describe dimensions.
void write_plain_text(const Library& hdf5, hid_t object, const std::string& name, const std::string& value,
                      const std::string& display_name);

/// Makes the type of texts of any length in UTF-8.
Handle make_text_type(const Library& hdf5);

/// Makes a dataspace of that shape; an empty shape makes a scalar.
Handle make_space(const Library& hdf5, const Extents& shape);

}  // namespace plait::container::hdf5
