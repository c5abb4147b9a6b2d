/// Arrays in .npy files, which grow along their slowest dimension.
#pragma once

#include <memory>
#include <string>

#include "container/dataset.hpp"
#include "store/posix/extended_file.hpp"

namespace plait::container::npy {

/// The array of a .npy file. It can grow, because it ends where the file ends.
///
/// Example: shape (5, 7), elements of 8 bytes, after a header of 128 bytes. An append of 2 rows writes bytes 408 to
/// 519, which NumPy ignores. commit() then writes the shape (7, 7) into the header, and from then on readers see the
/// rows.
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
  /// The locked file, and the shape that its header states. It exists only on the rank that changes the header.
  struct HeaderShape {
    store::posix::ExtendedFile file;
    Extents shape;
  };
  /// Checks that a new shape differs from the present one only in the slowest dimension.  errors  kArgument.
  void check_shape(const Extents& shape) const;
  /// Writes a shape into the header.  errors  kSystem, EBUSY: another program has changed the header.
  void write_shape(const Extents& shape);

  std::string name_;
  bool is_changed_ = false;  ///< true after with_shape()
  std::shared_ptr<HeaderShape> header_shape_;
};

}  // namespace plait::container::npy
