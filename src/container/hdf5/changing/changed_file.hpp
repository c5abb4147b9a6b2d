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

/// A file that is locked against other programs that change chunks. The destructor cuts off what has been appended, if
/// nothing refers to it.
struct ChangedFile {
  /// Locks the file.  name: the name of the dataset, for errors.
  /// errors  kSystem: another program changes the file.
  ChangedFile(std::shared_ptr<store::Store> changed, const std::string& name);
  ~ChangedFile();
  ChangedFile(const ChangedFile&) = delete;
  ChangedFile& operator=(const ChangedFile&) = delete;

  std::shared_ptr<store::Store> file;
  store::posix::Descriptor lock;
  std::string path;  ///< absolute path
  ChangedFields fields{};
  std::uint64_t old_length = 0;  ///< the length in the superblock
  std::uint64_t old_index = 0;
  std::int64_t old_size = 0;  ///< size of the file before the changes
  std::int64_t free = 0;      ///< the offset after all appended chunks of datasets that grow
};

}  // namespace plait::container::hdf5
