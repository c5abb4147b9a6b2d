/// Arrays in .npy files, which grow along their slowest dimension.
#pragma once

#include <memory>
#include <string>

#include "container/dataset.hpp"
#include "store/posix/extended_file.hpp"

namespace plait::container::npy {

/// An array at the end of its file, so that it can grow.
///
/// Example: shape (5, 7), elements of 8 bytes, after a header of 128 bytes. append() of 2 rows writes bytes 408 to 519,
/// which NumPy ignores. commit() then writes the shape (7, 7) into the header, from which moment readers see the rows.
class NpyDataset : public Dataset, public ShapeChanges, public DeferredChanges {
 public:
  NpyDataset(Content content, std::shared_ptr<store::Store> store, std::string name);

  ShapeChanges* shape_changes() override { return this; }
  DeferredChanges* deferred_changes() override { return this; }

  void begin() override;
  void clear_outside() override;
  void reduce(const Extents& shape) override;
  std::unique_ptr<Dataset> with_shape(const Extents& shape) override;

  bool follows_elements() const override { return is_changed_; }
  void commit() override;

 private:
  /// The file, and the shape that its header states. Only the rank that changes the header has it.
  struct Stated {
    store::posix::ExtendedFile file;
    Extents shape;
  };
  /// errors  kArgument: another dimension than the slowest one has another size.
  void check_shape(const Extents& shape) const;
  void write_shape(const Extents& shape);

  std::string name_;
  bool is_changed_ = false;  ///< true after with_shape()
  std::shared_ptr<Stated> stated_;
};

}  // namespace plait::container::npy
