/// Extending the records of a classic netCDF file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "container/part_store.hpp"
#include "store/posix/extended_file.hpp"
#include "store/store.hpp"

namespace plait::container::netcdf {

/// A file whose number of records grows. All variables with the record dimension share this number, so that the Files
/// of this process that extend variables of one file share one object.
///
/// Example: a and b have 5 records. A File of a is extended to 7: records 5 and 6 of both a and b are appended with
/// fill values. The Files of a and b overwrite them. commit("a", 7) sets the number of records in the header.
/// threads  Any number at once.
class RecordFile {
 public:
  /// Returns the object for the file of `store`, and begins to extend `variable`. name: the name of the variable in
  /// errors.
  /// errors  kSystem, EBUSY: another program extends the file, or another File of this process extends the variable.
  static std::shared_ptr<RecordFile> open(const std::shared_ptr<store::Store>& store, const std::string& name,
                                          const std::string& variable);
  RecordFile(std::shared_ptr<store::Store> store, const std::string& name);
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Ends the extension of a variable. Sets its elements that are not committed to the fill value.
  void release(const std::string& variable) noexcept;
  /// Sets the number of records of a variable. New records are filled with the fill values of all variables, unless
  /// they exist already. If the number becomes smaller, the variable's elements after it are set to the fill value.
  /// errors  kArgument: the header cannot state so many records.  kSystem.
  void extend(const std::string& variable, std::int64_t count);
  /// Sets the number of records in the header, which never becomes smaller.
  /// errors  kSystem, EBUSY: another program has changed it.
  void commit(const std::string& variable, std::int64_t count);

 private:
  /// The records of a variable that is being extended.
  struct Extension {
    std::int64_t committed = 0;
    std::int64_t extended = 0;  ///< number of records that may have elements
  };
  /// Reads the number of records from the header.
  std::int64_t stated_count();
  void write_count(std::int64_t count);
  /// Writes the fill values of new records of all variables.
  void fill_records(std::int64_t count);
  /// Sets the elements of a variable in the records from `begin` to `end` to the fill value.
  void clear_rows(const std::string& variable, std::int64_t begin, std::int64_t end);

  std::shared_ptr<store::Store> store_;
  std::string name_;
  store::posix::ExtendedFile file_;
  std::mutex mutex_;
  std::map<std::string, Extension> variables_;  ///< the variables that are being extended
  std::map<std::string, Rows> rows_;            ///< the records of each variable that grows
  std::int64_t number_bytes_ = 4;               ///< size of the number of records in the header
  std::int64_t stated_ = 0;                     ///< the number in the header, as it is stored
  std::int64_t count_ = 0;                      ///< number of records that the file has
  std::int64_t filled_ = 0;                     ///< number of records that have elements or fill values
  std::int64_t begin_ = 0;                      ///< offset of the first record
  std::vector<std::byte> record_;               ///< a record of fill values
};

}  // namespace plait::container::netcdf
