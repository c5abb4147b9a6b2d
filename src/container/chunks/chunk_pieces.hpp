/// Helpers for stores whose chunks are consecutive bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace plait::container {

/// Splits a segment at the borders of chunks. Calls `take` for each piece with the number of its chunk, its offset in
/// the chunk, its offset in the segment, and its length.
/// Example: chunks of 100 bytes and a segment of 150 bytes at offset 170: take(1, 70, 0, 30), take(2, 0, 30, 100),
/// take(3, 0, 130, 20).
template <typename Take>
void for_each_chunk(std::int64_t chunk_bytes, std::int64_t offset, std::int64_t bytes, const Take& take) {
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t within = (offset + done) % chunk_bytes;
    const std::int64_t length = std::min(chunk_bytes - within, bytes - done);
    take((offset + done) / chunk_bytes, within, done, length);
    done += length;
  }
}

/// Collects consecutive parts of one chunk, so that they are written by one call.
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
