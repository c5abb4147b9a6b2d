/// Dimensions of datasets (HDF5 Dimension Scale Specification; netCDF-4 format specification).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/hdf5/dataset.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/netcdf4/record_counts.hpp"

namespace plait::container::hdf5 {

/// The dimensions of a dataset, as its attributes describe them.
struct Dimensions {
  /// One for each dimension: the address of the dataset that is its scale, 0 without one.  Or none at all.
  std::vector<haddr_t> scales;
  /// One for each dimension, empty without one.  Or none at all.
  std::vector<std::string> labels;
  /// One for each dimension: the number that netCDF gives it in the file.  Or none at all.
  std::vector<std::int64_t> numbers;
  /// True if the dataset is a scale itself.
  bool is_scale = false;
  /// The dataset.
  haddr_t address = 0;

  /// True if only the numbers lead to some scales.
  bool needs_numbers() const;
};

/// Reads the attributes of a dataset that has `count` dimensions.
Dimensions read_dimensions(const Library& hdf5, hid_t dataset, haddr_t address, std::size_t count);

/// True for a scale that only gives a dimension its length: a dimension of netCDF without a variable.
bool is_only_dimension(const Library& hdf5, hid_t dataset);

/// True for a dimension scale.
bool is_scale(const Library& hdf5, hid_t dataset);
/// The number that netCDF gives the dimension of a scale in the file, if it does.
std::optional<std::int64_t> dimension_number(const Library& hdf5, hid_t scale);

/// netCDF's library stores a variable under this prefix if it has the name of a dimension but is not its coordinate
/// variable (netCDF-4 format specification, "Coordinate variables").
inline constexpr std::string_view kNonCoordinate = "_nc4_non_coord_";
/// The path of a variable without that prefix.
std::string variable_path(const std::string& stored);
/// The path with that prefix.
std::string non_coordinate_path(std::string_view variable);

/// The datasets of a file that may be scales.
class ScaleTable {
 public:
  /// descriptor: of the file.
  ScaleTable(const Library& hdf5, hid_t file, int descriptor) : hdf5_(hdf5), file_(file), records_(descriptor) {}

  /// Remembers a dataset, whose names then need not be searched for.
  void add(hid_t dataset, haddr_t address, const std::string& path);
  /// The names of `count` dimensions, each empty without one; none at all if no dimension has one.
  std::vector<std::string> names(const Dimensions& dimensions, std::size_t count);
  /// True if add() must have seen all datasets of the file before names() and extend_records() are called for a dataset.
  bool needs_all(const Dimensions& dimensions, const HdfDataset& dataset) const;
  /// Gives unlimited dimensions of netCDF the length of the longest dataset that has them: of those that add() has seen,
  /// and those that the scale refers to.
  void extend_records(const Dimensions& dimensions, HdfDataset& dataset);
  /// The length of the longest dataset that has the dimension of a scale; 0 if netCDF's library has not written it.
  std::int64_t records(haddr_t scale);

 private:
  /// Notes the extents of a coordinate variable of several dimensions, which no scale refers to.
  void add_extents(hid_t dataset);
  /// True if netCDF's library has written the scale.
  bool is_of_netcdf(hid_t scale) const;
  /// The scale that gives an unlimited dimension its length; 0: there is none.
  haddr_t record_scale(const Dimensions& dimensions, std::size_t d) const;
  /// 0: dimension `d` has no scale that is known.
  haddr_t scale(const Dimensions& dimensions, std::size_t d) const;
  const std::string& name(haddr_t scale);
  std::int64_t longest_user(hid_t scale);

  const Library& hdf5_;
  hid_t file_;
  std::map<haddr_t, std::string> names_;
  std::map<std::int64_t, haddr_t> numbered_;
  std::map<std::int64_t, std::int64_t> longest_;  // of coordinate variables of several dimensions, by its number
  std::map<haddr_t, std::int64_t> found_records_;
  RecordCounts records_;
};

}  // namespace plait::container::hdf5
