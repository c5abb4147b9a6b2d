/// Segments of a store in which the elements lie chunk by chunk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace plait::container {

/// Calls `take` with the number of the chunk, the offset in it, that in the segment, and the length of each piece of a
/// segment that lies in one chunk.
template <typename Take>
void for_each_chunk(std::int64_t chunk_bytes, std::int64_t offset, std::int64_t bytes, const Take& take) {
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t within = (offset + done) % chunk_bytes;
    const std::int64_t length = std::min(chunk_bytes - within, bytes - done);
    take((offset + done) / chunk_bytes, within, done, length);
    done += length;
  }
}

/// Puts together what follows each other in one chunk, so that it is written at once.
template <typename Write>
class PartsOfChunk {
 public:
  /// write: takes the number of a chunk, and parts by their offsets in it.
  explicit PartsOfChunk(Write write) : write_(std::move(write)) {}

  void add(std::int64_t number, const store::WriteSegment& part) {
    if (number != number_) finish();
    number_ = number;
    parts_.push_back(part);
  }
  /// Behind the last one.
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
