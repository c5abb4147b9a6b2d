/// Texts of any length in the global heap of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "container/dataset.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// Returns the element that stands for the fill value of an array of texts. No text in a file has such an element.
std::vector<std::byte> missing_text_element();

/// The texts of a file. An element is stored as in the file: the length of a text and its location in the heap.
class HeapTexts : public TextAccess {
 public:
  /// Appends a collection of texts to the file. Returns its offset there.
  using Append = std::function<std::int64_t(std::span<const std::byte>)>;

  /// file: must outlive this object. name: the name in errors. base: the offset in the file to which addresses are
  /// relative. fill_text: the fill value. append: empty if texts cannot be added.
  HeapTexts(store::Store& file, std::string name, std::int64_t base, std::string fill_text, Append append = {})
      : file_(file),
        name_(std::move(name)),
        base_(base),
        fill_text_(std::move(fill_text)),
        append_(std::move(append)) {}

  TextBlock read_texts(std::span<const std::byte> elements) override;
  std::vector<std::byte> add_texts(const TextBlock& texts) override;
  bool shares_elements() const override { return true; }

 private:
  store::Store& file_;
  std::string name_;
  std::int64_t base_;
  std::string fill_text_;
  Append append_;
};

}  // namespace plait::container::hdf5
