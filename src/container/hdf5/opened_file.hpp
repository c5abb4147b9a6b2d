/// HDF5 files that are open for reading or changes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "container/format.hpp"
#include "container/hdf5/changing/changed_dataset.hpp"
#include "container/hdf5/dataset.hpp"
#include "container/hdf5/dataset_store.hpp"

namespace plait::container::hdf5 {

/// A dataset of an existing file. It is changed in place, or by appending (ChangedDataset).
class OpenedDataset : public container::Dataset, public DeferredChanges, public AttributeWriter, public ShapeChanges {
 public:
  /// Makes a dataset that is changed in place. path: the path of the dataset, `FILE::NAME`, or of its file.
  OpenedDataset(Content content, std::shared_ptr<DatasetStore> store, const std::string& path);
  /// Makes a dataset whose elements get new offsets when they change.
  OpenedDataset(Content content, const std::shared_ptr<ChangedDataset>& store, const std::string& path);

  std::string encoded() const override;
  void prepare_changes() override;
  DeferredChanges* deferred_changes() override;
  AttributeWriter* attribute_writer() override { return this; }
  ShapeChanges* shape_changes() override;

  // DeferredChanges: changes that take effect when the dataset is closed.
  bool needs_counter() const override { return true; }
  bool follows_elements() const override { return changed_->is_growing(); }
  void share(std::unique_ptr<transport::Counter> counter, bool is_only_writer) override;
  void commit() override;

  // AttributeWriter.
  void prepare() override;
  void write(const AttributeChanges& changes) override;

  // ShapeChanges.
  void begin() override;
  void clear_outside() override;
  void reduce(const Extents& shape) override;
  std::unique_ptr<container::Dataset> with_shape(const Extents& shape) override;

 private:
  std::string file_;  ///< absolute path, because the working directory may have changed when attributes are written
  std::shared_ptr<DatasetStore> dataset_;
  std::shared_ptr<ChangedDataset> changed_;  ///< the same store as dataset_; nullptr if it can only be changed in place
};

/// Makes a dataset from its description. Selects the store that reads it: by the HDF5 library, by ranges of an object,
/// or from the file.
std::unique_ptr<container::Dataset> make_opened_dataset(Content content, std::shared_ptr<store::Store> file,
                                                        HdfDataset dataset, const std::string& path);

/// An existing file.
class OpenedHdfFile : public OpenedFile, public FileChanges {
 public:
  OpenedHdfFile(std::shared_ptr<store::Store> store, std::string name);
  std::vector<Member> arrays() override;
  std::vector<GroupAttributes> groups() override;
  std::unique_ptr<container::Dataset> dataset(const FileOptions& stated) override;
  FileChanges* changes() override { return this; }
  bool lacks_array() const override;
  std::unique_ptr<container::Dataset> add(const FileOptions& options) override;

 private:
  std::shared_ptr<store::Store> store_;
  std::string name_;  ///< name of the file, which may be followed by the name of an array
  std::string file_;  ///< name of the file alone
};

}  // namespace plait::container::hdf5
