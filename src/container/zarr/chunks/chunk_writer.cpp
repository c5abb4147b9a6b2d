// Writing chunks as a whole.
//
// A write that does not cover a chunk reads the former chunk, unless its parts cover all elements of the chunk inside
// the array. The read returns the identity of the object. put() commits under the condition that the object still has
// this identity, so that no change of another program is lost.
//
// A rank writes a chunk that is larger than its windows in several parts. Reading, encoding and putting such a chunk
// again for each part would multiply the cost by the number of parts, so the parts of large chunks are collected first.
// Small chunks are put at once, because all of their parts are in one window.
//
// Example: shape (5), chunks of 2 elements of 8 bytes. Chunk 2 has 16 bytes, of which bytes_inside(2) = 8 are in the
// array. A write of 8 bytes at offset 32 of the store covers element 4, so that nothing is read and the other 8 bytes
// get the fill value. A write of 8 bytes at offset 16 covers half of chunk 1, so that the chunk is read first.

#include "container/zarr/chunks/chunk_writer.hpp"

#include <cstring>
#include <utility>

#include "container/zarr/chunk_buffers.hpp"
#include "container/zarr/chunk_store.hpp"
#include "container/zarr/transposed.hpp"

namespace plait::container::zarr {

namespace {

using store::WriteSegment;

/// Chunks from this size on may be larger than the windows of an access.
constexpr std::int64_t kLargeChunk = std::int64_t{1} << 20;

}  // namespace

void ChunkWriter::write(std::int64_t number, const std::vector<WriteSegment>& parts) {
  const auto size = static_cast<std::size_t>(store_.metadata().chunk_bytes);
  std::int64_t covered = 0;
  for (const WriteSegment& part : parts) covered += part.bytes;
  if (std::cmp_greater_equal(size, kLargeChunk)) return open_.write(number, parts);
  if (parts.size() == 1 && std::cmp_equal(covered, size)) return put_if(number, {parts[0].data, size}, std::nullopt);
  const std::span<std::byte> chunk = ChunkBuffers::of_thread().plain.acquire(size);
  const store::Condition condition = store_.read_former(number, covered, chunk);
  for (const WriteSegment& part : parts)
    std::memcpy(chunk.data() + part.offset, part.data, static_cast<std::size_t>(part.bytes));
  put_if(number, chunk, condition);
}

void ChunkWriter::flush() { open_.flush(); }

void ChunkWriter::discard() noexcept {
  open_.discard();
  const std::scoped_lock lock(mutex_);
  conditions_.clear();
}

std::int64_t ChunkWriter::chunk_bytes(std::int64_t /*number*/) const { return store_.metadata().chunk_bytes; }

std::int64_t ChunkWriter::bytes_inside(std::int64_t number) const {
  // Another program may have extended an existing array, so that the rest of the chunk has elements.
  return store_.is_new() ? store_.bytes_inside(number) : store_.metadata().chunk_bytes;
}

void ChunkWriter::fill_chunk(std::int64_t /*number*/, std::span<std::byte> chunk) const { store_.fill(0, chunk); }

void ChunkWriter::read_old(std::int64_t number, std::span<std::byte> chunk) {
  store::Condition condition = store_.read_former(number, 0, chunk);
  const std::scoped_lock lock(mutex_);
  conditions_[number] = std::move(condition);
}

void ChunkWriter::put(std::int64_t number, std::span<const std::byte> chunk) {
  store::Condition condition;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = conditions_.find(number); found != conditions_.end()) condition = found->second;
  }
  put_if(number, chunk, condition);
  const std::scoped_lock lock(mutex_);
  conditions_.erase(number);
}

void ChunkWriter::put_if(std::int64_t number, std::span<const std::byte> chunk, const store::Condition& condition) {
  const Metadata& metadata = store_.metadata();
  if (!metadata.stored_order.empty()) {
    const std::span<std::byte> stored = ChunkBuffers::of_thread().transposed.acquire(chunk.size());
    transpose(metadata, TransposeDirection::kFile, chunk, stored);
    chunk = stored;
  }
  chunks_.put(number, metadata.codecs.encode(chunk), condition);
}

}  // namespace plait::container::zarr
