/// Texts of any length in an open file.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plait/file.hpp"
#include "plait/text_block.hpp"

namespace plait {

/// The texts of an array of dtype `text` (ArrayType::kTexts) in HDF5, netCDF-4 and Zarr.  Its elements have
/// ArrayType::kTextBytes.  File::read() and File::write() move them in any layout; an element refers to a text, and has
/// no other meaning.  Both functions are collective.
class Texts {
 public:
  /// file: must outlive this object.
  explicit Texts(File& file) : file_(file) {}

  /// Returns the texts that elements refer to, in UTF-8.  elements: the dense elements of this rank, or none.
  /// cost    On each rank, a read of each piece of the file that has some of its texts.
  /// errors  kArgument: the array has no texts.  kSystem: the file is damaged; a text is not UTF-8.
  std::vector<std::string> read(std::span<const std::byte> elements);
  /// Returns the texts of read() without an allocation for each.
  TextBlock read_block(std::span<const std::byte> elements);
  /// Stores texts in UTF-8, and returns the elements that refer to them, which the next File::write() writes.  They are
  /// valid until the next call.  texts: those of this rank, or none.
  /// cost    In Zarr each rank holds the texts of all ranks.
  /// errors  kArgument: the array has no texts; a text is not UTF-8; the format cannot store it, or the file cannot
  ///         change.  kSystem: the store failed.
  std::vector<std::byte> add(std::span<const std::string> texts);
  /// Does the same as add() without a copy of the texts.
  std::vector<std::byte> add_block(const TextBlock& texts);

 private:
  /// Implement the calls above. They call `convert` and `make`, which allocate memory, at a point where an error of one
  /// rank becomes the error of all.
  TextBlock read_and_convert(std::span<const std::byte> elements, const std::function<void(const TextBlock&)>& convert);
  std::vector<std::byte> make_and_add(const TextBlock& texts, const std::function<void()>& make);

  File& file_;
};

}  // namespace plait
