/// Changes of several datasets of a file that take effect together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/hdf5/changing/changed_file.hpp"
#include "container/hdf5/growth/dataset_growth.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// Collects the changes of several datasets of one file, which this process extends one after the other.
///
/// Problem: the length of an unlimited dimension of netCDF is that of its longest variable. If variables were extended
/// one after the other, readers would see fill values in those that are not extended yet.
///
/// Example: a group of 2 datasets for all.nc exists. A File extends temp and is closed, then another File extends time.
/// When the second one is closed, both datasets get their new shapes through one journal. If the group is destroyed
/// before that, neither changes.
/// threads  One File of the file at a time, which has called begin_dataset(). Any thread may call begin_dataset().
class GrowthGroup {
 public:
  /// Makes a group of `datasets` datasets, which find() returns until it is destroyed.
  /// errors  kSystem: the file does not exist, or has a group already.
  static std::shared_ptr<GrowthGroup> make(const std::string& path, std::int64_t datasets);
  /// Returns the group of a file; nullptr if there is none.
  static std::shared_ptr<GrowthGroup> find(const std::string& path);

  /// Begins the change of a dataset, which ends when the result is destroyed.  name: the name of the dataset, for
  /// errors.
  /// errors  kSystem, EBUSY: the change of another dataset has not ended.
  std::shared_ptr<const void> begin_dataset(const std::string& name);
  /// Returns the file; the first call locks it.  name: the name of the dataset, for errors.
  /// errors  Those of ChangedFile.
  const std::shared_ptr<ChangedFile>& file(const std::shared_ptr<store::Store>& store, const std::string& name);
  /// Adds a change. free_offset: the offset after all appended chunks.
  void add(DatasetGrowth change, std::int64_t free_offset);
  /// Must be called when the File of a dataset is closed. The last of the calls, one for each dataset of the group,
  /// commits all changes and unlocks the file.
  /// errors  kSystem: nothing has changed.
  void finish_dataset();

 private:
  GrowthGroup(std::string path, std::int64_t datasets) : path_(std::move(path)), unfinished_(datasets) {}

  std::string path_;         ///< canonical path
  std::int64_t unfinished_;  ///< number of datasets for which finish_dataset() has not been called yet
  std::shared_ptr<ChangedFile> file_;
  std::weak_ptr<const void> exclusive_token_;  ///< not expired while a dataset is being changed
  std::vector<DatasetGrowth> changes_;
};

/// Applies changes to a locked file as soon as no other program has it open.
/// errors  kSystem: nothing has changed.
void apply_exclusively(ChangedFile& file, const std::string& name, std::span<const DatasetGrowth> changes);

}  // namespace plait::container::hdf5
