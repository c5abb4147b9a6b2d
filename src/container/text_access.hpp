/// Arrays of texts of any length.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plait/array_description.hpp"

namespace plait::container {

/// The texts of an array whose elements have no fixed size.  Its store has a reference of ArrayType::kTextBytes for each
/// element, which has a meaning for the format alone.  References are read, exchanged and written in any layout as
/// elements of other types are; each rank converts those of its own part.  An element of zero bytes is the empty text.
/// threads  One at a time.
class TextAccess {
 public:
  virtual ~TextAccess() = default;
  /// Returns the texts that elements refer to, in UTF-8 or any other encoding of the file.
  /// errors  kSystem: the file is damaged.
  virtual std::vector<std::string> read_texts(std::span<const std::byte> elements) = 0;
  /// Stores texts, and returns the elements that refer to them.  They are valid until the next call.
  /// errors  kArgument: the format cannot store a text, or the file is not new.  kSystem.
  virtual std::vector<std::byte> add_texts(std::span<const std::string> texts) = 0;
  /// Returns true if the elements of add_texts() are valid on all ranks.  Otherwise all ranks must add all texts.
  virtual bool shares_elements() const = 0;
};

}  // namespace plait::container
