// Reading a batch of segments: it becomes one request for each chunk, and the object store sends as many requests at a
// time as it can.
//
// Example: chunks of 100 bytes, segments [250, 290) and [290, 420). The pieces are [50, 90) and [90, 100) of chunk 2,
// [0, 100) of chunk 3 and [0, 20) of chunk 4. If chunks have no codecs, chunk 2 is read by one request with two ranges.
// If they are compressed, three chunks are read as a whole. Chunk 3 is decompressed into the caller's memory. The other
// two are decompressed into buffers, from which the pieces are copied.

#include <cstring>
#include <utility>

#include "container/chunks/chunk_pieces.hpp"
#include "container/zarr/chunk_buffers.hpp"
#include "container/zarr/chunk_store.hpp"

namespace plait::container::zarr {

void ChunkStore::read_segments(std::span<const store::ReadSegment> segments) {
  writer_.flush();
  std::vector<PiecesOfChunk> chunks;
  for (const store::ReadSegment& segment : segments) {
    check("read", segment.offset, segment.bytes);
    for_each_chunk(metadata_.chunk_bytes, segment.offset, segment.bytes,
                   [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t bytes) {
                     if (chunks.empty() || chunks.back().number != number) chunks.push_back({number, {}});
                     chunks.back().pieces.push_back({within, segment.data + done, bytes});
                   });
  }
  metadata_.has_no_codecs() ? read_plain(chunks) : read_encoded(chunks);
}

void ChunkStore::fill_pieces(const PiecesOfChunk& chunk) const {
  for (const store::ReadSegment& piece : chunk.pieces)
    fill(piece.offset, {piece.data, static_cast<std::size_t>(piece.bytes)});
}

void ChunkStore::read_plain(std::span<const PiecesOfChunk> chunks) {
  std::vector<ChunkRequest> requests(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    requests[i].number = chunks[i].number;
    requests[i].parts = chunks[i].pieces;
  }
  const auto no_memory = [](ChunkRequest& /*request*/, std::int64_t /*bytes*/) { return std::span<std::byte>(); };
  chunks_.read_all(requests, no_memory, [&](ChunkRequest& request) {
    if (request.result.status == ChunkStatus::kMissing)
      fill_pieces(chunks[static_cast<std::size_t>(&request - &requests[0])]);
  });
}

void ChunkStore::read_encoded(std::span<const PiecesOfChunk> chunks) {
  std::vector<ChunkRequest> requests(chunks.size());
  std::vector<std::shared_ptr<const DecodedChunk>> cached(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    requests[i].number = chunks[i].number;
    requests[i].identity = !chunks[i].is_whole(metadata_.chunk_bytes);
    if (requests[i].identity) cached[i] = cache_.find(chunks[i].number);
    if (cached[i]) requests[i].unless = &cached[i]->identity;
  }
  std::vector<EncodedBuffer> buffers(chunks.size());
  const auto index = [&](const ChunkRequest& request) { return static_cast<std::size_t>(&request - &requests[0]); };
  const auto memory = [&](ChunkRequest& request, std::int64_t bytes) {
    check_encoded_bytes(request.number, bytes);
    return buffers[index(request)].acquire(static_cast<std::size_t>(bytes));
  };
  chunks_.read_all(requests, memory, [&](ChunkRequest& request) {
    const PiecesOfChunk& chunk = chunks[index(request)];
    EncodedBuffer& encoded = buffers[index(request)];
    const store::ReadSegment& first = chunk.pieces[0];
    if (request.result.status == ChunkStatus::kMissing)
      fill_pieces(chunk);
    else if (chunk.is_whole(metadata_.chunk_bytes))
      decode_chunk(chunk.number, encoded.bytes(), {first.data, static_cast<std::size_t>(first.bytes)});
    else
      copy_pieces(chunk, request.result, encoded.bytes(), std::move(cached[index(request)]));
    encoded.release();
  });
}

void ChunkStore::copy_pieces(const PiecesOfChunk& chunk, const ChunkResult& found, std::span<const std::byte> encoded,
                             std::shared_ptr<const DecodedChunk> cached) {
  if (found.status == ChunkStatus::kRead) {
    const auto size = static_cast<std::size_t>(metadata_.chunk_bytes);
    auto made = std::make_shared<DecodedChunk>();
    made->number = chunk.number;
    made->identity = found.identity;
    made->bytes = std::make_unique_for_overwrite<std::byte[]>(size);
    decode_chunk(chunk.number, encoded, {made->bytes.get(), size});
    cached = std::move(made);
    // A chunk that is written in place may change again within the resolution of its times, so it is not cached.
    if (!chunks_.is_new() && cached->identity != store::ObjectIdentity{}) cache_.insert(cached);
  }
  for (const store::ReadSegment& piece : chunk.pieces)
    std::memcpy(piece.data, cached->bytes.get() + piece.offset, static_cast<std::size_t>(piece.bytes));
}

}  // namespace plait::container::zarr
