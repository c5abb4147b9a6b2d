/// New variables in existing files of netCDF's classic formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "container/content.hpp"
#include "plait/file_options.hpp"
#include "store/posix/extended_file.hpp"
#include "store/store.hpp"

namespace plait::container::netcdf {

/// A new variable without the record dimension. The constructor allocates the space of its elements, and the destructor
/// releases it unless commit() has added the variable to the header.
class NewVariable {
 public:
  /// Locks the file, allocates space for the elements, and fills it with the fill value. name: `FILE::VARIABLE`.
  /// errors  kArgument: the options do not fit, or the header has no space for the variable. kSystem: another program
  ///         changes the file.
  NewVariable(std::shared_ptr<store::Store> store, const std::string& name, const FileOptions& options);
  ~NewVariable();
  NewVariable(const NewVariable&) = delete;
  NewVariable& operator=(const NewVariable&) = delete;

  /// Returns the variable, with the offset of its elements.
  const Member& member() const { return member_; }
  /// Adds the variable to the header.  errors  kSystem: the file does not have the variable.
  void commit();

 private:
  /// Writes the fill value to all elements.
  void fill() const;
  /// Releases the space of the elements, unless the header refers to them.
  void discard() noexcept;

  std::shared_ptr<store::Store> store_;
  std::string name_;
  store::posix::ExtendedFile file_;
  Member member_;
  std::vector<std::byte> old_header_;  ///< the header without the variable, and the bytes after it
  std::vector<std::byte> new_header_;  ///< the header with the variable, of the same size
  std::int64_t old_header_end_ = 0;    ///< the offset after the header without the variable
  std::int64_t old_file_size_ = 0;
  bool is_committed_ = false;
};

}  // namespace plait::container::netcdf
