#include "container/zarr/chunk_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "codec/room.hpp"
#include "container/chunk_pieces.hpp"
#include "container/zarr/transposed.hpp"
#include "plait/error.hpp"

namespace plait::container::zarr {

namespace {

using store::ReadSegment;
using store::WriteSegment;

class PendingChunkReads : public store::Pending {
 public:
  PendingChunkReads(ChunkStore& store, std::vector<ReadSegment> segments)
      : store_(store), segments_(std::move(segments)) {}
  void complete() override {
    std::shared_ptr<const Unpacked> recent;
    for (const ReadSegment& segment : segments_) store_.read_segment(segment, recent);
  }

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

/// Memory of a thread for whole chunks: packed, and as they are.
struct Rooms {
  codec::Room packed;
  codec::Room plain;
  codec::Room transposed;
};

Rooms& chunk_rooms() {
  thread_local Rooms rooms;
  return rooms;
}

}  // namespace

ChunkStore::ChunkStore(std::string folder, Metadata metadata, std::string text, Finders finders)
    : metadata_(std::move(metadata)), files_(std::move(folder), metadata_, finders), text_(std::move(text)) {}

std::string ChunkStore::description() const {
  return base::text("Zarr, chunks of ", base::bytes_text(metadata_.chunk_bytes), ", ", metadata_.words());
}

std::int64_t ChunkStore::size() {
  std::int64_t bytes = metadata_.chunk_bytes;  // which metadata has been found to fit
  if (metadata_.shards) bytes *= metadata_.shards->count;
  for (const std::int64_t chunks : metadata_.grid) bytes *= chunks;
  return bytes;
}

void ChunkStore::check(const char* what, std::int64_t offset, std::int64_t bytes) {
  const std::int64_t all = size();
  if (offset >= 0 && offset <= all && bytes <= all - offset) return;
  throw Error(ErrorKind::kSystem,
              base::text("cannot ", what, ' ', bytes, " bytes at offset ", offset, " of the chunks of ", name(),
                         ", which have ", all),
              EINVAL);
}

std::unique_ptr<store::Pending> ChunkStore::submit_read(std::vector<ReadSegment> segments) {
  return std::make_unique<PendingChunkReads>(*this, std::move(segments));
}

std::unique_ptr<store::Pending> ChunkStore::submit_write(std::vector<WriteSegment> segments) {
  return std::make_unique<PendingChunkWrites>(*this, std::move(segments));
}

void ChunkStore::settle() {
  files_.settle();
  // A file that was replaced twice may look as before.
  const std::scoped_lock lock(mutex_);
  last_ = nullptr;
}

void ChunkStore::fill(std::int64_t offset, std::span<std::byte> bytes) const {
  const std::size_t size = metadata_.fill.size();
  if (std::ranges::all_of(metadata_.fill, [&](std::byte one) { return one == metadata_.fill[0]; })) {
    std::ranges::fill(bytes, metadata_.fill[0]);
    return;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = metadata_.fill[(static_cast<std::size_t>(offset) + i) % size];
}

std::int64_t ChunkStore::inside(std::int64_t number) const {
  std::int64_t bytes = metadata_.type.element_bytes;
  const std::size_t count = metadata_.grid.size();
  std::int64_t in_shard = 0;
  if (metadata_.shards) {
    in_shard = number % metadata_.shards->count;
    number /= metadata_.shards->count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t d = metadata_.type.order == Order::kC ? count - 1 - i : i;
    std::int64_t begin = number % metadata_.grid[d];
    number /= metadata_.grid[d];
    if (metadata_.shards) {
      begin = begin * metadata_.shards->chunks[d] + in_shard % metadata_.shards->chunks[d];
      in_shard /= metadata_.shards->chunks[d];
    }
    begin *= metadata_.chunk[d];
    bytes *= std::clamp<std::int64_t>(metadata_.type.shape[d] - begin, 0, metadata_.chunk[d]);
  }
  return bytes;
}

void ChunkStore::read_stored(std::int64_t number, const ReadSegment& piece) {
  const std::optional<StoredChunk> found = files_.find(number);
  if (!found) return fill(piece.offset, {piece.data, static_cast<std::size_t>(piece.bytes)});
  if (found->bytes != metadata_.chunk_bytes)
    throw Error(ErrorKind::kSystem,
                base::text("cannot read ", found->what, ": it has ", found->bytes, " bytes, but a chunk has ",
                           metadata_.chunk_bytes, "; copy or download it again"),
                EIO);
  found->file->read({{found->offset + piece.offset, piece.data, piece.bytes}});
}

void ChunkStore::unpack(const StoredChunk& found, std::span<std::byte> chunk) const {
  // Nothing that is worth packing grows by more.
  const auto most = static_cast<std::int64_t>(metadata_.packing.most_encoded(chunk.size()));
  if (found.bytes > most + most / 8 + 4096)
    throw Error(ErrorKind::kSystem,
                base::text("cannot read ", found.what, ": it has ", found.bytes, " bytes, more than what it holds, ",
                           metadata_.chunk_bytes, "; copy or download it again"),
                EIO);
  const std::span<std::byte> packed = chunk_rooms().packed.of(static_cast<std::size_t>(found.bytes));
  found.file->read({{found.offset, packed.data(), found.bytes}});
  if (metadata_.transposed.empty()) return metadata_.packing.decode(packed, chunk, found.what);
  const std::span<std::byte> stored = chunk_rooms().transposed.of(chunk.size());
  metadata_.packing.decode(packed, stored, found.what);
  transpose(metadata_, Towards::kArray, stored, chunk);
}

void ChunkStore::read_packed(std::int64_t number, const ReadSegment& piece, std::shared_ptr<const Unpacked>& recent) {
  if (!recent || recent->number != number) {
    const std::optional<StoredChunk> found = files_.find(number);
    if (!found) return fill(piece.offset, {piece.data, static_cast<std::size_t>(piece.bytes)});
    const auto size = static_cast<std::size_t>(metadata_.chunk_bytes);
    if (piece.bytes == metadata_.chunk_bytes) return unpack(*found, {piece.data, size});
    const store::posix::Identity of = found->file->identity();
    {
      const std::scoped_lock lock(mutex_);
      recent = last_;
    }
    if (!recent || recent->number != number || recent->of != of) {
      auto made = std::make_shared<Unpacked>();
      made->number = number;
      made->of = of;
      made->bytes = std::make_unique_for_overwrite<std::byte[]>(size);
      unpack(*found, {made->bytes.get(), size});
      recent = std::move(made);
      const std::scoped_lock lock(mutex_);
      // What is written in place may be written again before clocks have moved on.
      if (!files_.fresh()) last_ = recent;
    }
  }
  std::memcpy(piece.data, recent->bytes.get() + piece.offset, static_cast<std::size_t>(piece.bytes));
}

void ChunkStore::read_segment(const ReadSegment& segment, std::shared_ptr<const Unpacked>& recent) {
  check("read", segment.offset, segment.bytes);
  for_each_chunk(metadata_.chunk_bytes, segment.offset, segment.bytes,
                 [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t bytes) {
                   const ReadSegment piece{within, segment.data + done, bytes};
                   metadata_.plain() ? read_stored(number, piece) : read_packed(number, piece, recent);
                 });
}

void ChunkStore::write_chunk(std::int64_t number, const std::vector<WriteSegment>& parts) {
  const auto size = static_cast<std::size_t>(metadata_.chunk_bytes);
  const bool whole = parts.size() == 1 && parts[0].bytes == metadata_.chunk_bytes;
  if (metadata_.plain() && !whole && !metadata_.shards) return files_.patch(number, parts);
  std::span<const std::byte> plain;
  std::optional<store::posix::Identity> from;
  if (whole) {
    plain = {parts[0].data, size};
  } else {
    const std::span<std::byte> chunk = chunk_rooms().plain.of(size);
    std::int64_t given = 0;
    for (const WriteSegment& part : parts) given += part.bytes;
    std::optional<StoredChunk> old;
    if (given < inside(number)) {
      if (!files_.fresh()) from = files_.identity(number);
      old = files_.find(number);
    }
    if (old)
      unpack(*old, chunk);
    else if (static_cast<std::size_t>(given) < size)
      fill(0, chunk);
    for (const WriteSegment& part : parts)
      std::memcpy(chunk.data() + part.offset, part.data, static_cast<std::size_t>(part.bytes));
    plain = chunk;
  }
  if (!metadata_.transposed.empty()) {
    const std::span<std::byte> stored = chunk_rooms().transposed.of(size);
    transpose(metadata_, Towards::kFile, plain, stored);
    plain = stored;
  }
  files_.put(number, metadata_.packing.encode(plain), from);
}

}  // namespace plait::container::zarr
