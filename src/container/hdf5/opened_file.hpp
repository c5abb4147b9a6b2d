/// HDF5 files that are open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "container/format.hpp"
#include "container/hdf5/changing/changed_dataset.hpp"
#include "container/hdf5/dataset.hpp"
#include "container/hdf5/dataset_store.hpp"

namespace plait::container::hdf5 {

/// A dataset that is read by its index, and changed where it lies, or by new chunks (ChangedDataset).
class OpenedDataset : public container::Dataset, public DeferredChanges, public AttributeWriter {
 public:
  /// A dataset that changes where it lies.  path: of the dataset, `FILE::NAME`, or of its file.
  OpenedDataset(Content content, std::shared_ptr<DatasetStore> store, const std::string& path);
  /// A dataset whose chunks get other offsets.
  OpenedDataset(Content content, const std::shared_ptr<ChangedDataset>& store, const std::string& path);

  std::string encoded() const override;
  void prepare_changes() override;
  DeferredChanges* deferred_changes() override;
  AttributeWriter* attribute_writer() override { return this; }

  bool needs_counter() const override { return true; }
  void share(std::unique_ptr<transport::Counter> counter, bool alone) override;
  void commit() override;

  void prepare() override;
  void write(const AttributeChanges& changes) override;

 private:
  std::string file_;  ///< absolute, as the working directory may be another one at the end
  std::shared_ptr<DatasetStore> dataset_;
  std::shared_ptr<ChangedDataset> changed_;  ///< the same; nullptr: it changes where it lies
};

/// Opens a dataset that was found in a file.
std::unique_ptr<container::Dataset> opened(Content content, std::shared_ptr<store::Store> file, HdfDataset dataset,
                                           const std::string& path);

class OpenedHdfFile : public OpenedFile {
 public:
  OpenedHdfFile(std::shared_ptr<store::Store> store, std::string name);
  std::vector<Member> arrays() override;
  std::vector<GroupAttributes> groups() override;
  std::unique_ptr<container::Dataset> dataset(const FileOptions& stated) override;

 private:
  std::shared_ptr<store::Store> store_;
  std::string name_;
  std::string file_;
};

}  // namespace plait::container::hdf5
