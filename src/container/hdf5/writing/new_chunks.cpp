// The store of a new file. Below `begin_`, addresses are offsets in the file; from `begin_` on, they are virtual.
//
// Problem: callers write elements at offsets of a store, but the offset of a compressed chunk in the file is known only
// when the chunk is complete.
//
// Idea: compressed datasets get virtual addresses from `begin_` on, as if their chunks were stored uncompressed. Writes
// to them are collected into whole chunks (OpenChunks), which are encoded and appended to a log that begins at offset
// `begin_` of the file (ChunkLog). finish() writes one index for each dataset.
//
// Example: dataset A has 2 chunks of 2,048 bytes without filters, at offsets 4,096 and 6,144. Dataset B has 3 chunks of
// 1,000 bytes with deflate, and begin_ is 8,192. Chunks are numbered through all datasets: A has 0 and 1, B has 2, 3
// and 4 (first_chunk = 2). A write of bytes 9,192..10,191 is B's chunk (9,192 - 8,192) / 1,000 = 1, number 3. It is
// compressed to 400 bytes: its header is at offset 8,192 of the file, its bytes at 8,224..8,623. finish() then writes
// A's index at 8,624, B's index after it, and the length of the file.

#include "container/hdf5/writing/new_chunks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/chunks/chunk_pieces.hpp"
#include "container/hdf5/changing/numbers.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/writing/chunk_tree.hpp"
#include "store/pending_call.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;
using store::ReadSegment;
using store::WriteSegment;

/// First 8 bytes of each header in the log: the letters "Lt.Chunk".
constexpr std::uint64_t kMark = 0x6b6e7568432e744cULL;

}  // namespace

template <typename Take>
void NewChunks::for_each_piece(std::int64_t offset, std::int64_t bytes, const Take& take) const {
  const Part& part = *find_virtual_part(offset);
  for_each_chunk(part.chunk_bytes, offset - part.begin, bytes,
                 [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t length) {
                   take(part.first_chunk + number, within, done, length);
                 });
}

NewChunks::NewChunks(std::shared_ptr<store::Store> file, std::vector<NewDataset> datasets, std::int64_t begin)
    : file_(std::move(file)), begin_(begin), size_(begin), log_(file_, begin, kMark) {
  std::int64_t chunks_before = 0;
  for (NewDataset& added : datasets) {
    Part& part = parts_.emplace_back();
    part.address_field = added.address_field;
    part.begin = added.begin;
    part.codecs = make_chain(added.dataset.filters, /*filter_mask=*/0);
    part.chunk_bytes = part.bytes = added.dataset.chunk_bytes();
    part.first_chunk = chunks_before;
    std::int64_t chunks = 1;
    for (const std::int64_t count : added.dataset.grid()) {
      chunks = base::checked_multiply(chunks, count, "chunks of the array");
      part.bytes = base::checked_multiply(part.bytes, count, "bytes of all chunks");
    }
    chunks_before = part.end_chunk = base::checked_add(chunks_before, chunks, "chunks of the file");
    part.dataset = std::move(added.dataset);
    size_ = std::max(size_, base::checked_add(part.begin, part.bytes, "bytes of all chunks"));
  }
}

std::string NewChunks::description() const {
  return text("HDF5, ", parts_.size() == 1 ? parts_.front().dataset.describe_storage()
                                           : text(parts_.size(), " arrays in chunks"));
}

const NewChunks::Part* NewChunks::find_virtual_part(std::int64_t offset) const {
  if (offset < begin_) return nullptr;
  const auto after = std::ranges::upper_bound(parts_, offset, {}, &Part::begin);
  return after == parts_.begin() ? nullptr : &*std::prev(after);
}

const NewChunks::Part& NewChunks::find_part(std::int64_t number) const {
  return *std::prev(std::ranges::upper_bound(parts_, number, {}, &Part::first_chunk));
}

void NewChunks::check_range(std::int64_t offset, std::int64_t bytes) const {
  if (offset >= 0 && offset <= size_ && bytes <= size_ - offset) return;
  base::throw_system_error(EINVAL, "cannot access ", bytes, " bytes at offset ", offset, " of the chunks of ", name(),
                           ", which have ", size_);
}

std::int64_t NewChunks::bytes_inside(std::int64_t number) const {
  const Part& part = find_part(number);
  return part.dataset.bytes_inside(number - part.first_chunk);
}

std::unique_ptr<store::Pending> NewChunks::submit_read(std::vector<ReadSegment> segments) {
  std::vector<ReadSegment> plain;    // those at offsets in the file
  std::vector<ReadSegment> chunked;  // those at virtual addresses
  for (const ReadSegment& segment : segments) {
    check_range(segment.offset, segment.bytes);
    (find_virtual_part(segment.offset) == nullptr ? plain : chunked).push_back(segment);
  }
  if (chunked.empty()) return file_->submit_read(std::move(plain));
  return std::make_unique<store::PendingCall>([this, plain = std::move(plain), chunked = std::move(chunked)] {
    if (!plain.empty()) file_->read(plain);
    std::vector<std::byte> chunk;
    std::int64_t number_in_memory = -1;  // the chunk that `chunk` holds
    for (const ReadSegment& segment : chunked)
      for_each_piece(segment.offset, segment.bytes,
                     [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t bytes) {
                       if (open_.read(number, {within, segment.data + done, bytes})) return;
                       if (number != number_in_memory) {
                         chunk.resize(static_cast<std::size_t>(find_part(number).chunk_bytes));
                         read_old(number, chunk);
                         number_in_memory = number;
                       }
                       std::memcpy(segment.data + done, chunk.data() + within, static_cast<std::size_t>(bytes));
                     });
  });
}

std::unique_ptr<store::Pending> NewChunks::submit_write(std::vector<WriteSegment> segments) {
  std::vector<WriteSegment> plain;    // those at offsets in the file
  std::vector<WriteSegment> chunked;  // those at virtual addresses
  for (const WriteSegment& segment : segments) {
    check_range(segment.offset, segment.bytes);
    (find_virtual_part(segment.offset) == nullptr ? plain : chunked).push_back(segment);
  }
  if (chunked.empty()) return file_->submit_write(std::move(plain));
  return std::make_unique<store::PendingCall>([this, plain = std::move(plain), chunked = std::move(chunked)] {
    if (!plain.empty()) file_->write(plain);
    PartsOfChunk together(
        [this](std::int64_t number, std::span<const WriteSegment> parts) { open_.write(number, parts); });
    for (const WriteSegment& segment : chunked)
      for_each_piece(segment.offset, segment.bytes,
                     [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t bytes) {
                       together.add(number, {within, segment.data + done, bytes});
                     });
    together.finish();
  });
}

void NewChunks::fill_chunk(std::int64_t number, std::span<std::byte> chunk) const {
  const std::vector<std::byte>& fill = find_part(number).dataset.fill;
  if (fill.empty()) return static_cast<void>(std::ranges::fill(chunk, std::byte{0}));
  for (std::size_t at = 0; at < chunk.size(); ++at) chunk[at] = fill[at % fill.size()];
}

void NewChunks::put(std::int64_t number, std::span<const std::byte> chunk) {
  log_.append(number, find_part(number).codecs.encode(chunk));
}

void NewChunks::read_old(std::int64_t number, std::span<std::byte> chunk) {
  log_.read_new_headers();
  const std::optional<Chunk> old = log_.find_last(number);
  if (!old) return fill_chunk(number, chunk);
  const Part& part = find_part(number);
  std::vector<std::byte> encoded(static_cast<std::size_t>(old->bytes));
  file_->read({{old->offset, encoded.data(), old->bytes}});
  part.codecs.decode(encoded, chunk, text(describe_chunk(part.dataset, number - part.first_chunk), " of ", name()));
}

void NewChunks::write_missing_texts() {
  const std::vector<Chunk> written = log_.list_chunks();
  for (const Part& part : parts_) {
    if (!part.dataset.type.has_texts() || part.dataset.fill.empty()) continue;
    std::vector<std::byte> chunk(static_cast<std::size_t>(part.chunk_bytes));
    fill_chunk(part.first_chunk, chunk);
    for (std::int64_t number = part.first_chunk; number < part.end_chunk; ++number)
      if (!std::ranges::binary_search(written, number, {}, &Chunk::number)) put(number, chunk);
  }
}

std::vector<Chunk> NewChunks::stored_chunks(const Part& part, const std::vector<Chunk>& logged) const {
  std::vector<Chunk> chunks;
  if (part.begin < begin_) {
    // The chunks are stored at their addresses, whether they have been written or not.
    for (std::int64_t number = 0; number < part.end_chunk - part.first_chunk; ++number)
      chunks.push_back({number, part.begin + number * part.chunk_bytes, part.chunk_bytes, 0});
    return chunks;
  }
  const auto from = std::ranges::lower_bound(logged, part.first_chunk, {}, &Chunk::number);
  const auto to = std::ranges::lower_bound(logged, part.end_chunk, {}, &Chunk::number);
  chunks.assign(from, to);
  for (Chunk& chunk : chunks) chunk.number -= part.first_chunk;
  return chunks;
}

void NewChunks::finish(std::int64_t length_field, bool has_log) {
  flush();
  if (has_log) write_missing_texts();
  const std::vector<Chunk> logged = has_log ? log_.list_chunks() : std::vector<Chunk>();
  std::int64_t end = has_log ? log_.end() : begin_;
  for (const Part& part : parts_) {
    const std::vector<Chunk> chunks = stored_chunks(part, logged);
    if (chunks.empty()) continue;  // the address of the index stays undefined
    end = (end + 7) / 8 * 8;       // the index begins at a multiple of 8
    const ChunkTree tree = make_tree(part.dataset, chunks, end);
    std::vector<std::byte> root;
    append_number(root, static_cast<std::uint64_t>(tree.root), 8);
    file_->write(
        {{end, tree.nodes.data(), static_cast<std::int64_t>(tree.nodes.size())}, {part.address_field, root.data(), 8}});
    end += static_cast<std::int64_t>(tree.nodes.size());
  }
  std::vector<std::byte> length;
  append_number(length, static_cast<std::uint64_t>(end), 8);
  file_->write({{length_field, length.data(), 8}});
}

}  // namespace plait::container::hdf5
