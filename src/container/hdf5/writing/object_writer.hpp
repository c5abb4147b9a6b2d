/// Makes objects in a new or an existing file through the HDF5 library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "container/content.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/netcdf4/netcdf_types.hpp"
#include "container/hdf5/writing/scales.hpp"

namespace plait::container::hdf5 {

/// Flags for the links of a group: netCDF's library changes only files that track the order of creation.
inline constexpr unsigned kTracksOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

/// Checks the path of a new object.  errors  kArgument: an object cannot have one of the names in it.
void check_object_name(const std::string& name, const std::string& display_name);

/// Returns a chunk shape for an array that has no elements yet, but may get some later.
Extents chunk_for_empty_array(const Extents& shape);

/// The time at which the space of the elements of a dataset is allocated.
enum class Allocation : std::uint8_t {
  kLate,  ///< no space until elements are written
  kNow    ///< the library allocates the space, but writes no fill values except those of texts
};

/// An element of the attribute REFERENCE_LIST of a scale: the address of a dataset that has the dimension, and the
/// number of the dimension in that dataset.
struct ScaleUse {
  haddr_t dataset = 0;
  std::uint32_t dimension = 0;
  std::uint32_t unused = 0;
};

/// Makes groups, datasets and dimension scales. All functions throw a kSystem error if the library fails.
class ObjectWriter {
 public:
  /// path: the path of the file in errors. is_netcdf: true if netCDF's library must be able to read the file.
  ObjectWriter(const Library& hdf5, hid_t file, std::string path, bool is_netcdf);

  bool is_netcdf() const { return is_netcdf_; }
  /// Returns the path of the file with the name of an object, for errors.
  std::string display_name(const std::string& name) const;
  /// Throws an error that the library cannot make an object.
  [[noreturn]] void fail(const std::string& name) const;
  /// Opens an object.
  Handle open(const std::string& name) const;
  /// Returns the address of an open object. name: for errors.
  haddr_t address(hid_t object, const std::string& name) const;

  void make_group(const std::string& name) const;
  /// Makes the type of elements. Types of records are added to `types`, because netCDF's library shows records only if
  /// their type has a name.  errors  kArgument: HDF5 has no such type.
  Handle make_type(const Member& member, NetcdfTypes& types) const;
  /// Makes a dataset, with its attributes. name: its path in the file. type: the result of make_type().
  Handle make_dataset(const Member& member, const std::string& name, hid_t type, Allocation allocation) const;
  /// Makes a dataset without elements, which represents a dimension.
  Handle make_dimension(const Scale& scale) const;
  void write_attributes(hid_t object, const ArrayAttributes& attributes, const std::string& name) const;
  /// Turns a dataset into a scale. number: the number of the netCDF dimension; -1 for none.
  void write_scale(hid_t dataset, const Scale& scale, std::int64_t number) const;
  /// Writes the list of the datasets that have the dimension of a scale. A list that is too long for an attribute is
  /// left out: readers find the scales of a dataset by its DIMENSION_LIST.
  void write_references(hid_t scale, const std::vector<ScaleUse>& uses, const std::string& name) const;
  /// Adds a dataset to the REFERENCE_LIST of a scale.
  void add_reference(hid_t scale, const ScaleUse& use, const std::string& name) const;
  /// Writes the scale of each dimension of a dataset. scales: their addresses; 0 for a dimension without a scale.
  void write_dimension_list(hid_t dataset, std::vector<haddr_t> scales, const std::string& name) const;
  /// Writes the names of dimensions that have no scale.
  void write_labels(hid_t dataset, const std::vector<std::string>& labels, const std::string& name) const;

 private:
  /// Makes the creation properties of a dataset. type: the type of its elements.
  Handle make_creation_list(const Member& member, hid_t type, Allocation allocation) const;
  /// Makes the type of the elements of REFERENCE_LIST.
  Handle make_reference_type(const std::string& name) const;

  const Library& hdf5_;
  hid_t file_;
  std::string path_;
  bool is_netcdf_;
  Handle link_creation_;   ///< link creation properties
  Handle group_creation_;  ///< group creation properties
};

}  // namespace plait::container::hdf5
