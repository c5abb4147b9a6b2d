/// Extending the records of a classic netCDF file: the rows along its unlimited dimension.
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

/// A file whose number of records grows. All variables with the record dimension share this number. Therefore all File
/// objects of this process that extend variables of one file share one RecordFile.
///
/// Example: a and b have 5 records. A File of a is extended to 7: records 5 and 6 of both a and b are appended with
/// fill values. The Files of a and b overwrite them. commit("a", 7) sets the number of records in the header.
/// threads  Any number at once.
class RecordFile {
 public:
  /// Returns the object for the file of `store`, and begins the extension of `variable`. name: the name of the variable
  /// in errors.
  /// errors  kSystem, EBUSY: another program extends the file, or another File of this process extends the variable.
  static std::shared_ptr<RecordFile> open(const std::shared_ptr<store::Store>& store, const std::string& name,
                                          const std::string& variable);
  RecordFile(std::shared_ptr<store::Store> store, const std::string& name);
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Ends the extension of a variable, which open() has begun. Sets its elements that are not committed to the fill
  /// value.
  void release(const std::string& variable) noexcept;
  /// Sets the number of records of a variable. New records are filled with the fill values of all variables, unless
  /// they exist already. If the number becomes smaller, the variable's elements after it are set to the fill value.
  /// errors  kArgument: the header cannot state so many records.  kSystem.
  void extend(const std::string& variable, std::int64_t count);
  /// Raises the number of records in the header to `count`; a larger number stays.
  /// errors  kSystem, EBUSY: another program has changed it.
  void commit(const std::string& variable, std::int64_t count);

 private:
  /// The records of a variable that is being extended.
  struct Extension {
    std::int64_t committed = 0;  ///< number of records at the last commit()
    std::int64_t extended = 0;   ///< number of records that may have elements
  };
  /// Reads the number of records from the header.
  std::int64_t read_count();
  void write_count(std::int64_t count);
  /// Writes the fill values of new records of all variables.
  void fill_records(std::int64_t count);
  /// Sets the elements of a variable in the records from `begin` to `end` to the fill value.
  void clear_rows(const std::string& variable, std::int64_t begin, std::int64_t end);

  std::shared_ptr<store::Store> store_;
  std::string name_;
  store::posix::ExtendedFile file_;
  std::mutex mutex_;
  std::map<std::string, Extension> extensions_;   ///< the variables that are being extended
  std::map<std::string, Rows> rows_by_variable_;  ///< the records of each variable that grows
  std::int64_t count_bytes_ = 4;                  ///< size of the number of records in the header
  std::int64_t stored_count_ = 0;                 ///< the number in the header, as it is stored
  std::int64_t record_count_ = 0;                 ///< number of records that the file has
  std::int64_t filled_count_ = 0;                 ///< number of records that have elements or fill values
  std::int64_t first_record_ = 0;                 ///< offset of the first record
  std::vector<std::byte> fill_record_;            ///< a record of fill values
};

}  // namespace plait::container::netcdf
