/// Helpers for stores whose bytes are the chunks of an array, one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace plait::container {

/// Splits a segment of the store at the borders of chunks. Calls `visit` for each piece with the number of its chunk,
/// its offset in the chunk, its offset in the segment, and its length.
/// Example: chunks of 100 bytes and a segment of 150 bytes at offset 170: visit(1, 70, 0, 30), visit(2, 0, 30, 100),
/// visit(3, 0, 130, 20).
template <typename Visit>
void for_each_chunk(std::int64_t chunk_bytes, std::int64_t offset, std::int64_t bytes, const Visit& visit) {
  for (std::int64_t visited = 0; visited < bytes;) {
    const std::int64_t offset_in_chunk = (offset + visited) % chunk_bytes;
    const std::int64_t length = std::min(chunk_bytes - offset_in_chunk, bytes - visited);
    visit((offset + visited) / chunk_bytes, offset_in_chunk, visited, length);
    visited += length;
  }
}

/// Collects parts of one chunk that are added one after another, so that they are written by one call.
template <typename Write>
class PartsOfChunk {
 public:
  /// write: a function of the number of a chunk and its parts, whose offsets are relative to the chunk.
  explicit PartsOfChunk(Write write) : write_(std::move(write)) {}

  void add(std::int64_t number, const store::WriteSegment& part) {
    if (number != number_) finish();
    number_ = number;
    parts_.push_back(part);
  }
  /// Writes the parts of the last chunk.
  void finish() {
    if (!parts_.empty()) write_(number_, parts_);
    parts_.clear();
  }

 private:
  Write write_;
  std::int64_t number_ = -1;
  std::vector<store::WriteSegment> parts_;
};

}  // namespace plait::container
