// Dividing a byte range of a dataset without chunks into boxes.
//
// Problem: the library reads boxes, while stores have byte ranges. Elements that are consecutive in C order are a box
// only if they begin and end at the borders of whole rows.
//
// Idea: repeatedly take the largest box that begins at the current element and is consecutive in C order. It consists
// of whole rows if the element begins a row, and of the rest of a row or of the range otherwise. N dimensions need at
// most 2N-1 boxes.
//
// Example: shape (4, 10), elements 7 to 33. Element 7 is within a row: the box at (0, 7) has the 3 elements that remain
// of the row. Element 10 begins a row, and 24 elements remain: the box at (1, 0) has 2x10 elements. Element 30 begins a
// row, but only 4 elements remain: the box at (3, 0) has 4 elements.

#include "container/hdf5/library_read/library_store.hpp"

#include <algorithm>

namespace plait::container::hdf5 {

namespace {

/// Returns the largest box that begins at element `first`, numbered in C order, and has at most `count` elements.
LibraryBox first_box(const Extents& shape, std::int64_t first, std::int64_t count) {
  LibraryBox box;
  box.first.resize(shape.size());
  box.count.assign(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 0; first /= shape[d]) box.first[d] = first % shape[d];
  std::int64_t row_elements = 1;  // elements of the dimensions after d
  for (std::size_t d = shape.size(); d-- > 0; row_elements *= shape[d]) {
    box.count[d] = std::min(count / row_elements, shape[d] - box.first[d]);
    if (box.count[d] < shape[d]) break;
  }
  box.extents = box.count;
  return box;
}

std::int64_t count_elements(const LibraryBox& box) {
  std::int64_t count = 1;
  for (const std::int64_t extent : box.count) count *= extent;
  return count;
}

}  // namespace

LibraryStore::LibraryStore(std::shared_ptr<store::Store> file, const HdfDataset& dataset, const std::string& name)
    : DatasetStore(file, dataset, name), reader_(std::make_unique<LibraryReader>(file, dataset, name)) {}

std::optional<Chunk> LibraryStore::find_chunk(std::int64_t number) const {
  return Chunk{number, number, chunk_bytes(), 0};
}

void LibraryStore::decode_chunk(const Chunk& chunk, std::span<std::byte> into) const {
  LibraryBox box;
  box.count = box.extents = dataset().chunk;
  box.first.resize(box.count.size());
  const Extents grid = dataset().grid();
  std::int64_t number = chunk.number;
  for (std::size_t d = grid.size(); d-- > 0; number /= grid[d]) {
    box.first[d] = number % grid[d] * box.count[d];
    box.count[d] = std::min(box.count[d], dataset().type.shape[d] - box.first[d]);
  }
  reader_->read(box, into.data());
  dataset().pad_with_null(into);
}

void LibraryStore::read_whole(std::int64_t offset, std::span<std::byte> into) const {
  const std::int64_t element_bytes = dataset().type.element_bytes;
  const std::int64_t begin = offset / element_bytes;
  const std::int64_t end = begin + static_cast<std::int64_t>(into.size()) / element_bytes;
  for (std::int64_t at = begin; at < end;) {
    const LibraryBox box = first_box(dataset().type.shape, at, end - at);
    reader_->read(box, into.data() + (at - begin) * element_bytes);
    at += count_elements(box);
  }
}

}  // namespace plait::container::hdf5
