/// The records of a classic netCDF file that grows.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "store/posix/extended_file.hpp"
#include "store/store.hpp"

namespace plait::container::netcdf {

/// The number of records, which all variables with the record dimension share. Files of this process that extend
/// several variables share one object.
///
/// Example: a and b have 5 records. A File of a is extended to 7: records 5 and 6 of a and b get their fill values
/// after the end of the file. The Files of a and b write them. commit(7) sets the number in the header.
/// threads  Any number at once.
class RecordFile {
 public:
  /// Returns the object for the file of `store`.  variable: the variable that is extended, with the name `name`.
  /// errors  kSystem, EBUSY: another program extends the file, or another File here the variable.
  static std::shared_ptr<RecordFile> open(const std::shared_ptr<store::Store>& store, const std::string& name,
                                          const std::string& variable);
  RecordFile(std::shared_ptr<store::Store> store, const std::string& name);
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Ends the extension of a variable.
  void release(const std::string& variable);
  /// Gives all elements of new records their fill values, unless they have them already.
  /// errors  kArgument: the header cannot state so many records.  kSystem.
  void extend(std::int64_t count);
  /// Sets the number of records in the header, which never becomes smaller.
  /// errors  kSystem, EBUSY: another program has changed it.
  void commit(std::int64_t count);

 private:
  std::int64_t stated_count();

  std::shared_ptr<store::Store> store_;
  std::string name_;
  store::posix::ExtendedFile file_;
  std::mutex mutex_;
  std::set<std::string> variables_;
  std::int64_t number_bytes_ = 4;  ///< size of the number of records in the header
  std::int64_t stated_ = 0;        ///< the number in the header, as it is stored
  std::int64_t count_ = 0;         ///< number of records that the file has
  std::int64_t filled_ = 0;        ///< number of records that have elements or fill values
  std::int64_t begin_ = 0;         ///< offset of the first record
  std::vector<std::byte> record_;  ///< a record of fill values
};

}  // namespace plait::container::netcdf
