/// Texts of any length, one after another in memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

/// Texts whose bytes share one allocation. A `std::vector<std::string>` allocates each longer text.
/// Example: set(1, "cd") and set(0, "ab") in a block of two texts store "cdab"; text 0 begins at 2, text 1 at 0.
class TextBlock {
 public:
  /// count: the number of texts, which are empty until set().
  explicit TextBlock(std::size_t count = 0) : extents_(count) {}
  explicit TextBlock(std::span<const std::string> texts) {
    extents_.reserve(texts.size());
    for (const std::string& text : texts) add(text);
  }

  std::size_t size() const { return extents_.size(); }
  /// Returns text `i`, which must be less than size(). It is valid until the block changes.
  std::string_view operator[](std::size_t i) const {
    return std::string_view(bytes_).substr(extents_[i].offset, extents_[i].bytes);
  }
  /// Returns the bytes of all texts, in the order in which they were set.
  std::string_view bytes() const { return bytes_; }
  /// Appends a text, which must not be a part of this block.
  void add(std::string_view text) {
    extents_.push_back({bytes_.size(), text.size()});
    bytes_.append(text);
  }
  /// Replaces text `i`, which must be less than size(). The bytes of a former text stay in memory.
  void set(std::size_t i, std::string_view text) {
    extents_[i] = {bytes_.size(), text.size()};
    bytes_.append(text);
  }
  /// Allocates memory for `count` texts with `bytes` bytes in all.
  void reserve(std::size_t count, std::size_t bytes) {
    extents_.reserve(count);
    bytes_.reserve(bytes);
  }
  /// Returns a copy of the texts.
  std::vector<std::string> to_strings() const {
    std::vector<std::string> texts;
    texts.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) texts.emplace_back((*this)[i]);
    return texts;
  }

 private:
  struct Extent {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  std::vector<Extent> extents_;
  std::string bytes_;
};

}  // namespace plait
