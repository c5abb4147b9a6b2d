/// The types of elements of new datasets.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "container/hdf5/library.hpp"
#include "container/npy/record_type.hpp"
#include "plait/layout.hpp"

namespace plait::container::hdf5 {

/// Makes the HDF5 type for a dtype in the notation of .npy files; the inverse of to_element(). Booleans and complex
/// numbers are stored as h5py stores them, structured dtypes as compound types with the same offsets, and dates as
/// opaque bytes with a tag, as h5py tags them. Returns an invalid handle if HDF5 has no such type.
Handle make_hdf5_type(const Library& hdf5, const std::string& dtype);
/// Makes the type of arrays of this shape; the type itself if the shape is empty.
Handle make_array_type(const Library& hdf5, Handle type, const Extents& shape);
/// Makes the compound type of a structured dtype: each field at its offset. make_field: makes the type of a field,
/// including its dimensions. Returns an invalid handle if the library fails.
Handle make_record_type(const Library& hdf5, const std::string& dtype,
                        const std::function<Handle(const npy::RecordField&)>& make_field);
/// Returns true if netCDF lacks a type of numbers. kind: a dtype without its byte order, such as `f2`.
bool netcdf_lacks(std::string_view kind);
/// Returns the reason why a file cannot store a structured dtype, with the name of the field; empty if it can.
base::Rejection record_rejection(const std::string& dtype, bool is_netcdf);

}  // namespace plait::container::hdf5
