// Reading compressed chunks from an object store.
//
// Problem: DatasetStore reads and decodes one chunk after another. A request takes 20 to 100 ms.
//
// Idea: all chunks of a batch are passed to one read of the object, sorted by offset. That read merges neighbours into
// requests of several MiB and has many requests in flight. Chunks are then decoded one by one.
//
// Example: a window needs the chunks 3, 4 and 5 of 100 KB each. Chunks 3 and 4 are neighbours in the file, and chunk 5
// is 2 MB further. Two requests are in flight at the same time, of 200 KB and of 100 KB.

#include "container/hdf5/ranges/range_dataset.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "codec/buffer.hpp"
#include "container/chunks/chunk_pieces.hpp"
#include "store/pending_call.hpp"

namespace plait::container::hdf5 {

using store::ReadSegment;

std::unique_ptr<store::Pending> RangeDataset::submit_read(std::vector<ReadSegment> segments) {
  const bool needs_decoding = dataset().storage == Storage::kChunks && !needs_no_conversion();
  if (!needs_decoding) return DatasetStore::submit_read(std::move(segments));
  for (const ReadSegment& segment : segments) check_range(segment.offset, segment.bytes);
  return std::make_unique<store::PendingCall>([this, segments = std::move(segments)] { read_batch(segments); });
}

std::vector<RangeDataset::PiecesOfChunk> RangeDataset::copy_cached_pieces(const std::vector<ReadSegment>& segments) {
  std::map<std::int64_t, std::vector<ReadSegment>> by_number;
  for (const ReadSegment& segment : segments)
    for_each_chunk(chunk_bytes(), segment.offset, segment.bytes,
                   [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t length) {
                     by_number[number].push_back({within, segment.data + done, length});
                   });
  std::vector<PiecesOfChunk> chunks;
  for (auto& [number, pieces] : by_number) {
    const std::optional<Chunk> chunk = find_chunk(number);
    if (chunk && !find_decoded(*chunk)) {
      chunks.push_back({*chunk, std::move(pieces)});
      continue;
    }
    std::shared_ptr<const DecodedChunk> recent;
    for (const ReadSegment& piece : pieces)
      read_converted({number * chunk_bytes() + piece.offset, piece.data, piece.bytes}, recent);
  }
  std::ranges::sort(chunks, {}, [](const PiecesOfChunk& pieces_of_chunk) { return pieces_of_chunk.chunk.offset; });
  return chunks;
}

void RangeDataset::read_batch(const std::vector<ReadSegment>& segments) {
  const std::vector<PiecesOfChunk> chunks = copy_cached_pieces(segments);
  for (std::size_t begin = 0; begin < chunks.size();) {
    std::int64_t bytes = 0;
    std::size_t end = begin;
    for (; end < chunks.size(); ++end) {
      check_encoded_bytes(chunks[end].chunk);
      if (end > begin && bytes + chunks[end].chunk.bytes > kMaxEncodedBytes) break;
      bytes += chunks[end].chunk.bytes;
    }
    read_chunks(std::span(chunks).subspan(begin, end - begin));
    begin = end;
  }
}

void RangeDataset::read_chunks(std::span<const PiecesOfChunk> chunks) {
  std::size_t bytes = 0;
  for (const PiecesOfChunk& pieces_of_chunk : chunks) bytes += static_cast<std::size_t>(pieces_of_chunk.chunk.bytes);
  static thread_local codec::Buffer buffer;
  const std::span<std::byte> encoded = buffer.acquire(bytes);
  std::vector<ReadSegment> requests;
  std::size_t at = 0;
  for (const PiecesOfChunk& pieces_of_chunk : chunks) {
    requests.push_back({pieces_of_chunk.chunk.offset, encoded.data() + at, pieces_of_chunk.chunk.bytes});
    at += static_cast<std::size_t>(pieces_of_chunk.chunk.bytes);
  }
  file().read(std::move(requests));
  at = 0;
  for (const PiecesOfChunk& pieces_of_chunk : chunks) {
    copy_pieces(pieces_of_chunk, encoded.subspan(at, static_cast<std::size_t>(pieces_of_chunk.chunk.bytes)));
    at += static_cast<std::size_t>(pieces_of_chunk.chunk.bytes);
  }
}

void RangeDataset::copy_pieces(const PiecesOfChunk& pieces_of_chunk, std::span<const std::byte> encoded) {
  const auto decode_into = [&](std::span<std::byte> into) {
    decode_bytes(pieces_of_chunk.chunk, encoded, into);
    if (dataset().has_missing(pieces_of_chunk.chunk.number)) dataset().fill_missing(pieces_of_chunk.chunk.number, into);
  };
  if (pieces_of_chunk.pieces.size() == 1 && pieces_of_chunk.pieces[0].bytes == chunk_bytes())
    return decode_into({pieces_of_chunk.pieces[0].data, static_cast<std::size_t>(chunk_bytes())});
  auto decoded = std::make_shared<DecodedChunk>();
  decoded->number = pieces_of_chunk.chunk.number;
  decoded->offset = pieces_of_chunk.chunk.offset;
  decoded->bytes.resize(static_cast<std::size_t>(chunk_bytes()));
  decode_into(decoded->bytes);
  for (const ReadSegment& piece : pieces_of_chunk.pieces)
    std::memcpy(piece.data, decoded->bytes.data() + piece.offset, static_cast<std::size_t>(piece.bytes));
  cache_decoded(std::move(decoded));
}

}  // namespace plait::container::hdf5
