// The expected content of chunked arrays, computed element by element, and a store that records the accessed chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "access_case.hpp"
#include "store/store.hpp"

namespace chunk_case {

using access_case::Bytes;
using access_case::Case;
using oracle::to_size_t;
using plait::Extents;
using plait::Order;

/// Returns a random chunk shape for an array. It need not divide the array's extents.
inline Extents random_chunk(access_case::Random& random, const Extents& shape) {
  Extents chunk;
  for (const std::int64_t size : shape)
    chunk.push_back(access_case::pick(random, 1, std::max<std::int64_t>(size + 1, 1)));
  return chunk;
}

/// Returns the number of chunks in each dimension.
inline Extents chunk_grid(const Extents& shape, const Extents& chunk) {
  Extents grid;
  for (std::size_t d = 0; d < shape.size(); ++d) grid.push_back((shape[d] + chunk[d] - 1) / chunk[d]);
  return grid;
}

inline std::int64_t product(const Extents& extents) {
  std::int64_t result = 1;
  for (const std::int64_t extent : extents) result *= extent;
  return result;
}

/// Returns the number of elements in all chunks of an array, including those outside of the array.
inline std::int64_t padded_elements(const Extents& shape, const Extents& chunk) {
  return product(chunk_grid(shape, chunk)) * product(chunk);
}

/// Returns the position of an element in a file of whole chunks, counted in elements.
inline std::int64_t file_position(const Extents& index, const Extents& shape, const Extents& chunk, Order order) {
  Extents chunk_number;
  Extents inside;
  for (std::size_t d = 0; d < index.size(); ++d) {
    chunk_number.push_back(index[d] / chunk[d]);
    inside.push_back(index[d] % chunk[d]);
  }
  return oracle::dense_offset(chunk_number, chunk_grid(shape, chunk), order) * product(chunk) +
         oracle::dense_offset(inside, chunk, order);
}

/// Returns the position of an element if the file consists of shards, each of which is a dense array of chunks.
inline std::int64_t file_position_in_shards(const Extents& index, const Extents& shape, const Extents& chunk,
                                            const Extents& shard, Order order) {
  Extents shard_number;
  Extents inside;
  for (std::size_t d = 0; d < index.size(); ++d) {
    shard_number.push_back(index[d] / shard[d]);
    inside.push_back(index[d] % shard[d]);
  }
  return oracle::dense_offset(shard_number, chunk_grid(shape, shard), order) * product(shard) +
         file_position(inside, shard, chunk, order);
}

/// Returns the chunked store of an array whose dense content is `flat`. Bytes outside of the array are `elsewhere`.
inline Bytes to_chunks(const Case& access, const Extents& chunk, const Bytes& flat, std::byte elsewhere) {
  Bytes result(to_size_t(access.offset + padded_elements(access.file_shape, chunk) * access.element_bytes), elsewhere);
  std::copy_n(flat.begin(), access.offset, result.begin());
  oracle::for_each_index(access.file_shape, [&](const Extents& index) {
    const std::int64_t from = oracle::dense_offset(index, access.file_shape, access.file_order);
    const std::int64_t to = file_position(index, access.file_shape, chunk, access.file_order);
    std::copy_n(flat.begin() + access.offset + from * access.element_bytes, access.element_bytes,
                result.begin() + access.offset + to * access.element_bytes);
  });
  return result;
}

/// One rank's view of bytes that all ranks share. Tests expect every segment to be inside one chunk.
class ChunkedStore : public plait::store::Store {
 public:
  ChunkedStore(Bytes& bytes, std::int64_t offset, std::int64_t chunk_bytes)
      : bytes_(bytes), offset_(offset), chunk_bytes_(chunk_bytes) {}

  /// The numbers of the chunks that were read or written through this view.
  const std::set<std::int64_t>& touched() const { return touched_; }
  bool crossed_a_chunk_border() const { return crossed_border_; }  ///< by any segment

  const std::string& name() const override { return name_; }
  std::int64_t size() override { return static_cast<std::int64_t>(bytes_.size()); }
  std::unique_ptr<plait::store::Pending> submit_read(std::vector<plait::store::ReadSegment> segments) override {
    for (const auto& segment : segments) {
      record(segment.offset, segment.bytes);
      std::copy_n(bytes_.begin() + segment.offset, segment.bytes, segment.data);
    }
    return std::make_unique<CompletedOperation>();
  }
  std::unique_ptr<plait::store::Pending> submit_write(std::vector<plait::store::WriteSegment> segments) override {
    for (const auto& segment : segments) {
      record(segment.offset, segment.bytes);
      std::copy_n(segment.data, segment.bytes, bytes_.begin() + segment.offset);
    }
    return std::make_unique<CompletedOperation>();
  }
  void sync() override {}

 private:
  struct CompletedOperation : plait::store::Pending {
    void complete() override {}
  };
  void record(std::int64_t offset, std::int64_t bytes) {
    if (bytes == 0) return;
    const std::int64_t first = (offset - offset_) / chunk_bytes_;
    const std::int64_t last = (offset + bytes - 1 - offset_) / chunk_bytes_;
    const std::scoped_lock lock(mutex_);
    crossed_border_ = crossed_border_ || first != last;
    for (std::int64_t chunk = first; chunk <= last; ++chunk) touched_.insert(chunk);
  }

  Bytes& bytes_;
  std::int64_t offset_;
  std::int64_t chunk_bytes_;
  std::string name_ = "chunks";
  std::mutex mutex_;
  std::set<std::int64_t> touched_;
  bool crossed_border_ = false;
};

}  // namespace chunk_case
