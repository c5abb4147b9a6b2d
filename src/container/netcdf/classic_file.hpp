/// Open files of netCDF's classic formats.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "container/format.hpp"
#include "container/netcdf/new_variable.hpp"
#include "container/netcdf/record_file.hpp"
#include "container/part_store.hpp"

namespace plait::container::netcdf {

/// The location of a variable in a file, which rank 0 sends to other ranks.
struct Placement {
  Rows rows;
  bool can_extend = false;  ///< true if rows are records, and more may be added
  bool is_new = false;      ///< true if the header does not have the variable yet
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Placement>& placement) {
  codec(placement.rows, placement.can_extend, placement.is_new);
}

/// An open variable. If it grows along the record dimension (the unlimited one), its records alternate with those of
/// other variables.
class ClassicDataset : public Dataset, public ShapeChanges, public DeferredChanges {
 public:
  /// name: the name of the variable in errors.
  ClassicDataset(Content content, std::shared_ptr<store::Store> file, const Placement& placement, std::string name);
  ~ClassicDataset() override;
  ClassicDataset(const ClassicDataset&) = delete;
  ClassicDataset& operator=(const ClassicDataset&) = delete;
  std::string encoded() const override { return base::encode(placement_); }

  /// Makes this the dataset of a new variable, which readers see after commit(). One rank calls it.
  void set_new(std::unique_ptr<NewVariable> variable) { new_variable_ = std::move(variable); }
  ShapeChanges* shape_changes() override { return placement_.is_new ? nullptr : this; }
  DeferredChanges* deferred_changes() override { return placement_.can_extend || placement_.is_new ? this : nullptr; }

  void begin() override;
  void clear_outside() override {}
  void reduce(const Extents& shape) override;
  std::unique_ptr<Dataset> with_shape(const Extents& shape) override;

  bool follows_elements() const override { return true; }
  void commit() override;

 private:
  std::shared_ptr<store::Store> file_;
  Placement placement_;
  std::string name_;
  std::shared_ptr<RecordFile> records_;        ///< on the rank that changes the header
  std::unique_ptr<NewVariable> new_variable_;  ///< on the rank that changes the header
};

/// An open file of CDF-1, CDF-2 or CDF-5.
class ClassicFile : public OpenedFile, public FileChanges {
 public:
  ClassicFile(std::shared_ptr<store::Store> store, std::string name);
  std::vector<Member> arrays() override;
  std::vector<GroupAttributes> groups() override;
  std::unique_ptr<Dataset> dataset(const FileOptions& stated) override;
  FileChanges* changes() override { return this; }
  bool lacks_array() const override;
  std::unique_ptr<Dataset> add(const FileOptions& options) override;

 private:
  std::shared_ptr<store::Store> store_;
  std::string name_;
  std::string file_;
};

}  // namespace plait::container::netcdf
