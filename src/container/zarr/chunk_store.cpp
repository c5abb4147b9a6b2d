// Reading and writing the elements of an array in chunks. chunk_reading.cpp has the reads of batches, chunks/ the
// objects of chunks and the writes.

#include "container/zarr/chunk_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/chunks/chunk_pieces.hpp"
#include "container/zarr/chunk_buffers.hpp"
#include "container/zarr/transposed.hpp"

namespace plait::container::zarr {

namespace {

using store::ReadSegment;
using store::WriteSegment;

class PendingChunkReads : public store::Pending {
 public:
  PendingChunkReads(ChunkStore& store, std::vector<ReadSegment> segments)
      : store_(store), segments_(std::move(segments)) {}
  void complete() override { store_.read_segments(segments_); }

 private:
  ChunkStore& store_;
  std::vector<ReadSegment> segments_;
};

class PendingChunkWrites : public store::Pending {
 public:
  PendingChunkWrites(ChunkStore& store, std::vector<WriteSegment> segments)
      : store_(store), segments_(std::move(segments)) {}
  void complete() override {
    PartsOfChunk together(
        [this](std::int64_t number, const std::vector<WriteSegment>& parts) { store_.write_chunk(number, parts); });
    for (const WriteSegment& segment : segments_) {
      store_.check("write", segment.offset, segment.bytes);
      for_each_chunk(store_.metadata().chunk_bytes, segment.offset, segment.bytes,
                     [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t bytes) {
                       together.add(number, {within, segment.data + done, bytes});
                     });
    }
    together.finish();
  }

 private:
  ChunkStore& store_;
  std::vector<WriteSegment> segments_;
};

}  // namespace

ChunkStore::ChunkStore(std::shared_ptr<store::ObjectStore> objects, Metadata metadata, std::string text, bool is_new)
    : metadata_(std::move(metadata)),
      objects_(std::move(objects)),
      chunks_(objects_, metadata_, is_new),
      writer_(*this, chunks_),
      text_(std::move(text)),
      cache_(metadata_.chunk_bytes) {}

std::shared_ptr<ChunkStore> ChunkStore::with_shape(const Extents& shape) const {
  Metadata changed = metadata_;
  if (!set_shape(changed, shape))
    base::throw_argument_error(name(), ": the shape ", shape_to_string(shape),
                               " would have more than 2^63 - 1 bytes in chunks; give a smaller one");
  auto made = std::make_shared<ChunkStore>(objects_, std::move(changed), text_, is_new());
  made->resize_cache(cache_.max_bytes());
  return made;
}

std::string ChunkStore::description() const {
  return base::text("Zarr, chunks of ", base::bytes_text(metadata_.chunk_bytes), ", ", metadata_.describe());
}

std::int64_t ChunkStore::size() {
  std::int64_t bytes = metadata_.chunk_bytes;  // parse_metadata() has checked that the product fits
  if (metadata_.shards) bytes *= metadata_.shards->count;
  for (const std::int64_t chunks : metadata_.grid) bytes *= chunks;
  return bytes;
}

void ChunkStore::check(const char* what, std::int64_t offset, std::int64_t bytes) {
  const std::int64_t all = size();
  if (offset >= 0 && offset <= all && bytes <= all - offset) return;
  base::throw_system_error(EINVAL, "cannot ", what, ' ', bytes, " bytes at offset ", offset, " of the chunks of ",
                           name(), ", which have ", all);
}

std::unique_ptr<store::Pending> ChunkStore::submit_read(std::vector<ReadSegment> segments) {
  return std::make_unique<PendingChunkReads>(*this, std::move(segments));
}

std::unique_ptr<store::Pending> ChunkStore::submit_write(std::vector<WriteSegment> segments) {
  return std::make_unique<PendingChunkWrites>(*this, std::move(segments));
}

void ChunkStore::flush() {
  writer_.flush();
  chunks_.flush();
  // A file that was replaced twice within the resolution of its times may have the same identity as before.
  cache_.clear();
}

void ChunkStore::discard_buffered() noexcept {
  writer_.discard();
  chunks_.discard();
}

void ChunkStore::fill(std::int64_t offset, std::span<std::byte> bytes) const {
  const std::size_t size = metadata_.fill.size();
  if (std::ranges::all_of(metadata_.fill, [&](std::byte byte) { return byte == metadata_.fill[0]; })) {
    std::ranges::fill(bytes, metadata_.fill[0]);
    return;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = metadata_.fill[(static_cast<std::size_t>(offset) + i) % size];
}

std::int64_t ChunkStore::bytes_inside(std::int64_t number) const {
  const Order order = metadata_.type.order;
  const std::int64_t count = metadata_.shards ? metadata_.shards->count : 1;
  Extents index = to_index(number / count, metadata_.grid, order);
  if (metadata_.shards) {
    const Extents in_shard = to_index(number % count, metadata_.shards->chunks, order);
    for (std::size_t d = 0; d < index.size(); ++d) index[d] = index[d] * metadata_.shards->chunks[d] + in_shard[d];
  }
  std::int64_t bytes = metadata_.type.element_bytes;
  for (std::size_t d = 0; d < index.size(); ++d)
    bytes *= std::clamp<std::int64_t>(metadata_.type.shape[d] - index[d] * metadata_.chunk[d], 0, metadata_.chunk[d]);
  return bytes;
}

void ChunkStore::check_encoded_bytes(std::int64_t number, std::int64_t bytes) const {
  // No codec enlarges data by more than this. A larger size means that the object is damaged; do not allocate so much.
  const auto plain = static_cast<std::size_t>(metadata_.chunk_bytes);
  const auto max_encoded = static_cast<std::int64_t>(metadata_.codecs.max_encoded(plain));
  if (bytes > max_encoded + max_encoded / 8 + 4096)
    base::throw_system_error(EIO, "cannot read ", chunks_.describe(number), ": it has ", bytes,
                             " bytes, more than what it holds, ", metadata_.chunk_bytes, "; copy or download it again");
}

void ChunkStore::decode_chunk(std::int64_t number, std::span<const std::byte> encoded,
                              std::span<std::byte> chunk) const {
  const std::string what = chunks_.describe(number);
  if (metadata_.stored_order.empty()) return metadata_.codecs.decode(encoded, chunk, what);
  const std::span<std::byte> stored = ChunkBuffers::of_thread().transposed.acquire(chunk.size());
  metadata_.codecs.decode(encoded, stored, what);
  transpose(metadata_, TransposeDirection::kArray, stored, chunk);
}

store::Condition ChunkStore::read_former(std::int64_t number, std::int64_t covered, std::span<std::byte> chunk) {
  EncodedBuffer encoded;
  ChunkResult found;
  // Another program may have extended an existing array, so that the rest of the chunk has elements.
  const bool needed = covered < (chunks_.is_new() ? bytes_inside(number) : std::ssize(chunk));
  const auto memory = [&](std::int64_t bytes) {
    check_encoded_bytes(number, bytes);
    return encoded.acquire(static_cast<std::size_t>(bytes));
  };
  if (needed) found = chunks_.read(number, memory, {.identity = !chunks_.is_new()});
  if (found.status == ChunkStatus::kRead)
    decode_chunk(number, encoded.bytes(), chunk);
  else if (covered < std::ssize(chunk))
    fill(0, chunk);
  if (!needed || chunks_.is_new()) return std::nullopt;
  return std::move(found.identity);
}

void ChunkStore::write_chunk(std::int64_t number, const std::vector<WriteSegment>& parts) {
  const bool is_whole = parts.size() == 1 && parts[0].bytes == metadata_.chunk_bytes;
  if (!is_whole && changes_in_place(metadata_, *objects_)) return chunks_.change(number, parts);
  writer_.write(number, parts);
}

}  // namespace plait::container::zarr
