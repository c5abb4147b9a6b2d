/// Dimensions of datasets (HDF5 Dimension Scale Specification; netCDF-4 format specification).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/hdf5/dataset.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/netcdf4/record_counts.hpp"

namespace plait::container::hdf5 {

/// The dimensions of a dataset, as its attributes describe them.
struct Dimensions {
  /// The address of the scale of each dimension, 0 for a dimension without a scale. Empty if the file states no scales.
  std::vector<haddr_t> scales;
  /// The label of each dimension, empty for a dimension without a label. No entries if the file states no labels.
  std::vector<std::string> labels;
  /// The netCDF number of each dimension, which is unique in the file. Empty if the file states no numbers.
  std::vector<std::int64_t> numbers;
  /// True if the dataset itself is a scale.
  bool is_scale = false;
  /// The address of the dataset.
  haddr_t address = 0;

  /// Returns true if some scales can be found only by `numbers`.
  bool needs_numbers() const;
};

/// Reads the attributes of a dataset that has `count` dimensions.
Dimensions read_dimensions(const Library& hdf5, hid_t dataset, haddr_t address, std::size_t count);

/// Returns true for a scale that only states the length of a dimension: a netCDF dimension without a variable.
bool is_only_dimension(const Library& hdf5, hid_t dataset);

/// Returns true for a dimension scale.
bool is_scale(const Library& hdf5, hid_t dataset);
/// Returns the netCDF number of the dimension of a scale, if the file states one.
std::optional<std::int64_t> dimension_number(const Library& hdf5, hid_t scale);

/// Prefix of the stored name of a variable that has the name of a dimension but is not its coordinate variable
/// (netCDF-4 format specification, "Coordinate variables").
inline constexpr std::string_view kNonCoordinate = "_nc4_non_coord_";
/// Removes the prefix from the path of a variable.
std::string variable_path(const std::string& stored);
/// Adds the prefix to the path of a variable.
std::string non_coordinate_path(std::string_view variable);

/// The datasets of a file that may be scales.
class ScaleTable {
 public:
  /// records: the cached lengths of the file's unlimited dimensions (RecordCounts).
  ScaleTable(const Library& hdf5, hid_t file, RecordCounts records)
      : hdf5_(hdf5), file_(file), cached_records_(std::move(records)) {}

  /// Records a dataset, so that its name need not be searched for.
  void add(hid_t dataset, haddr_t address, const std::string& path);
  /// Returns the names of `count` dimensions, each empty for a dimension without one; nothing if no dimension has a
  /// name.
  std::vector<std::string> names(const Dimensions& dimensions, std::size_t count);
  /// Returns true if add() must be called for all datasets of the file before names() and extend_records() are called
  /// for this one.
  bool needs_all(const Dimensions& dimensions, const HdfDataset& dataset) const;
  /// Sets unlimited dimensions of netCDF to the length of the longest dataset that has them, among those that add() has
  /// seen and those that the scale refers to.
  void extend_records(const Dimensions& dimensions, HdfDataset& dataset);
  /// Returns the length of the longest dataset that has the dimension of a scale; 0 if netCDF's library has not written
  /// it.
  std::int64_t records(haddr_t scale);

 private:
  /// Records the extents of a coordinate variable of several dimensions, which no scale refers to.
  void add_extents(hid_t dataset);
  /// Returns true if netCDF's library has written the scale.
  bool is_netcdf_scale(hid_t scale) const;
  /// Returns the scale that gives an unlimited dimension its length; 0 if there is none.
  haddr_t find_record_scale(const Dimensions& dimensions, std::size_t d) const;
  /// Returns the scale of dimension `d`; 0 if none is known.
  haddr_t find_scale(const Dimensions& dimensions, std::size_t d) const;
  /// Returns the name of a scale; empty if it has none.
  const std::string& name(haddr_t scale);
  /// Returns the length of the longest dataset in the REFERENCE_LIST of a scale; 0 if there is none.
  std::int64_t longest_referring_dataset(hid_t scale);

  const Library& hdf5_;
  hid_t file_;
  std::map<haddr_t, std::string> names_;              // of datasets, by address
  std::map<std::int64_t, haddr_t> scales_by_number_;  // by the netCDF number of the dimension
  // Longest extents of coordinate variables of several dimensions, by the number of the dimension.
  std::map<std::int64_t, std::int64_t> longest_extents_;
  std::map<haddr_t, std::int64_t> records_by_scale_;  // results of records()
  RecordCounts cached_records_;                       // results of former openings of the file
};

}  // namespace plait::container::hdf5
