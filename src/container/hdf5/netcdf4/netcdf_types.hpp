/// Types of records in netCDF-4 files.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// The named types of a new netCDF-4 file.
class NetcdfTypes {
 public:
  /// used_names: the names of the objects in the root group, which types must not have.
  NetcdfTypes(const Library& hdf5, std::set<std::string> used_names)
      : hdf5_(hdf5), used_names_(std::move(used_names)) {}

  /// Returns the named type of a structured dtype. The first call with a dtype adds it to the file, after the types of
  /// the records that it contains. Returns an invalid identifier if the library fails.
  hid_t find_or_add(hid_t file, const std::string& dtype);
  /// Closes all types, so that the file can be closed.
  void close() { types_.clear(); }

 private:
  /// Makes the type of a record, without adding it to the file.
  Handle make_record(hid_t file, const std::string& dtype);
  /// Makes the type of a field, without the field's dimensions.
  Handle make_field(hid_t file, const std::string& dtype);
  /// Returns an unused name of the form `record_1`.
  std::string make_name();

  const Library& hdf5_;
  std::set<std::string> used_names_;
  std::map<std::string, Handle> types_;  ///< by dtype
};

}  // namespace plait::container::hdf5
