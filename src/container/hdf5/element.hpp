/// The types of elements of HDF5's datasets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "container/hdf5/dataset.hpp"
#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// Tag of opaque types that hold NumPy's dates and durations, as h5py writes them; the dtype follows it.
inline constexpr std::string_view kNumpyTag = "NUMPY:";
inline constexpr std::int64_t kDateBytes = 8;
/// Returns true for the dtype of dates or durations with a unit, such as `<M8[ns]`.
bool is_date(std::string_view dtype);

/// A type of elements, described for Plait.
struct Element {
  std::string dtype;            ///< the type in the notation of .npy files
  std::string description;      ///< the name of the type in h5dump, without `H5T_`
  std::int64_t bytes = 0;       ///< size of an element in memory
  base::Rejection rejection{};  ///< the reason why arrays of this type cannot be opened
  /// The type in the file, as in `integers of 12 bits in 2 bytes`, if the HDF5 library must convert elements to
  /// `dtype`; otherwise empty.
  std::string conversion{};
  /// The dimensions of elements that are arrays; `dtype` and `bytes` are then those of an element of such an array.
  Extents shape{};
  std::vector<TextField> texts{};  ///< the texts of an element that are not padded with NUL
  std::string unread_reason{};     ///< the reason for `rejection`, as in `its elements are references`
  std::string unread_member{};     ///< the path and the type of the first member that Plait does not read
};

/// Describes a type of the HDF5 library. Supported are integers and floats of both byte orders and of up to 64 bits,
/// booleans and other enumerations, complex numbers (of HDF5 2.0, and pairs `r` and `i`), texts, opaque bytes, NumPy's
/// dates as h5py tags them, arrays of these except for texts of any length, and records of all of them. All other types
/// are rejected.
Element to_element(const Library& hdf5, hid_t type);

/// Makes the type of elements in memory for a type that to_element() supports: the type itself, or the type of `dtype`
/// if the library must convert elements. Returns an empty handle if the library fails.
/// dtype: Element::dtype of the type. is_converted: true if Element::conversion is not empty.
Handle make_memory_type(const Library& hdf5, hid_t type, const std::string& dtype, bool is_converted);

}  // namespace plait::container::hdf5
