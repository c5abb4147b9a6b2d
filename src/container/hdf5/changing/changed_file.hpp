/// The file of a dataset that is being changed, on the rank that changes its metadata.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "container/hdf5/changing/fields.hpp"
#include "store/posix/descriptor.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// The metadata fields that a change updates, with their former values, and the extent of the file.
struct ChangedState {
  ChangedFields fields{};
  std::uint64_t old_length = 0;  ///< length of the file that the superblock stated before the change
  std::uint64_t old_index = 0;   ///< address of the index, or of the elements, before the change
  std::int64_t old_size = 0;     ///< size of the file before the change, which may exceed old_length
  std::int64_t free_offset = 0;  ///< offset after all appended chunks, where new metadata may be stored
};

/// A file that is locked against other programs that change chunks. If the changes have not been committed, the
/// destructor cuts off the appended bytes.
class ChangedFile {
 public:
  /// Locks the file.  name: the name of the dataset, for errors.
  /// errors  kSystem: another program changes the file.
  ChangedFile(std::shared_ptr<store::Store> changed, const std::string& name);
  ~ChangedFile();
  ChangedFile(const ChangedFile&) = delete;
  ChangedFile& operator=(const ChangedFile&) = delete;

  store::Store& file() const { return *file_; }
  /// Returns the descriptor that holds the locks.
  int descriptor() const { return lock_.number(); }
  /// Returns the absolute path.
  const std::string& path() const { return path_; }
  ChangedState& state() { return state_; }

 private:
  std::shared_ptr<store::Store> file_;
  store::posix::Descriptor lock_;
  std::string path_;
  ChangedState state_;
};

}  // namespace plait::container::hdf5
