/// Open files of netCDF's classic formats.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "container/format.hpp"
#include "container/netcdf/record_file.hpp"
#include "container/part_store.hpp"

namespace plait::container::netcdf {

/// The location of a variable in a file.
struct Placement {
  Rows rows;
  bool extends = false;  ///< true if rows are records, to which others may be added
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Placement>& placement) {
  codec(placement.rows, placement.extends);
}

/// A variable. If it grows along the record dimension, its records alternate with those of other variables.
class ClassicDataset : public Dataset, public ShapeChanges, public DeferredChanges {
 public:
  /// name: the name of the variable in errors.
  ClassicDataset(Content content, std::shared_ptr<store::Store> file, const Placement& placement, std::string name);
  ~ClassicDataset() override;
  ClassicDataset(const ClassicDataset&) = delete;
  ClassicDataset& operator=(const ClassicDataset&) = delete;
  std::string encoded() const override { return base::encode(placement_); }

  ShapeChanges* shape_changes() override { return this; }
  DeferredChanges* deferred_changes() override { return placement_.extends ? this : nullptr; }

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
  std::shared_ptr<RecordFile> records_;  ///< on the rank that changes the header
};

class ClassicFile : public OpenedFile {
 public:
  ClassicFile(std::shared_ptr<store::Store> store, std::string name);
  std::vector<Member> arrays() override;
  std::vector<GroupAttributes> groups() override;
  std::unique_ptr<Dataset> dataset(const FileOptions& stated) override;

 private:
  std::shared_ptr<store::Store> store_;
  std::string name_;
  std::string file_;
};

}  // namespace plait::container::netcdf
