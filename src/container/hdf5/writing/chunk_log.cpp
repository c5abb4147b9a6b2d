// A log in a file to which all ranks append without messages.
//
// Problem: the size of a compressed chunk is known only after compression, so its offset cannot be computed in advance.
// Ranks compress at the same time and must not wait for each other. At the end one rank needs the list of all chunks.
//
// Idea: a shared counter allocates space by one atomic addition. Each chunk has a header with the mark, its number, its
// size and its filter mask. The header is written after the chunk, so that a header proves that its chunk is complete.
// A rank finds the chunks of the others by reading headers from the beginning, each of which yields the offset of the
// next. An entry is a header and the bytes after it.
//
// A store need not write a header at once: if the header crosses the end of a stripe, its two pieces are two messages,
// and another rank may read one new piece and one old one. Therefore a header ends with a checksum of its other bytes.
// A header whose checksum does not match counts as not yet written: read_new_headers() stops there, and a later call
// reads it again.
// The highest bit of the checksum is 1, so that a header whose end still consists of zeros never matches.
//
// Example: the log begins at 4,096. Rank 0 appends chunk 7 with 100 bytes, rank 1 at the same time chunk 3 with 50.
//    counter    0 -> 132   rank 0: header at 4,096, chunk 7 at 4,128..4,227
//    counter  132 -> 214   rank 1: header at 4,228, chunk 3 at 4,260..4,309
// The log ends at 4,096 + 214 = 4,310. A rank that calls read_new_headers() before rank 0 has written its whole header
// stops at 4,096, although the header at 4,228 may be complete. If the write of rank 0 fails, write_missing_headers()
// writes a header with the number -2, by which other ranks skip the 132 bytes.

#include "container/hdf5/writing/chunk_log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>

#include "base/errors.hpp"
#include "codec/crc32c.hpp"
#include "container/hdf5/changing/numbers.hpp"
#include "plait/error.hpp"

namespace plait::container::hdf5 {

namespace {

/// Stands for the number of a chunk in the header of an entry that is not a chunk.
constexpr std::int64_t kNoChunk = -1;
/// Stands for the number of a chunk in the header of an entry whose bytes could not be written.
constexpr std::int64_t kNotWritten = -2;
/// Offsets of the fields in a header: the mark, the chunk's number, its bytes, its filter mask, and the checksum.
constexpr std::size_t kMarkOffset = 0;
constexpr std::size_t kNumberOffset = 8;
constexpr std::size_t kBytesOffset = 16;
constexpr std::size_t kFilterMaskOffset = 24;
constexpr std::size_t kChecksumOffset = 28;

/// Computes the checksum of a header from the bytes before the checksum.
std::uint32_t header_checksum(std::span<const std::byte> header) {
  return codec::compute_crc32c(header.first(kChecksumOffset)) | 1U << 31;
}

}  // namespace

void ChunkLog::write_header(std::int64_t offset, std::int64_t number, std::int64_t bytes, std::uint32_t filter_mask) {
  std::vector<std::byte> header;
  for (const std::uint64_t value : {mark_, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(bytes)})
    append_number(header, value, 8);
  append_number(header, filter_mask, 4);
  append_number(header, header_checksum(header), 4);
  file_->write({{offset, header.data(), kHeaderBytes}});
}

std::int64_t ChunkLog::write_entry(std::int64_t number, std::span<const std::byte> encoded, std::uint32_t filter_mask) {
  const auto bytes = static_cast<std::int64_t>(encoded.size());
  const std::int64_t header_offset = begin_ + counter_->fetch_add(kHeaderBytes + bytes);
  const std::int64_t offset = header_offset + kHeaderBytes;
  try {
    // The header comes last: a rank that finds it can read the whole chunk.
    file_->write({{offset, encoded.data(), bytes}});
    write_header(header_offset, number, bytes, filter_mask);
  } catch (const Error&) {
    {
      const std::scoped_lock lock(mutex_);
      without_header_.push_back({kNotWritten, header_offset, bytes, 0});
    }
    write_missing_headers();
    throw;
  }
  const std::scoped_lock lock(mutex_);
  written_end_ = std::max(written_end_, offset + bytes);
  return offset;
}

void ChunkLog::append(std::int64_t number, std::span<const std::byte> encoded, std::uint32_t filter_mask) {
  const std::int64_t offset = write_entry(number, encoded, filter_mask);
  const std::scoped_lock lock(mutex_);
  record({number, offset, static_cast<std::int64_t>(encoded.size()), filter_mask});
}

std::int64_t ChunkLog::append_heap(std::span<const std::byte> bytes) { return write_entry(kNoChunk, bytes, 0); }

void ChunkLog::write_missing_headers() noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    for (; !without_header_.empty(); without_header_.pop_back())
      write_header(without_header_.back().offset, kNotWritten, without_header_.back().bytes, 0);
  } catch (const std::exception&) {  // the disk is still full; other ranks report the missing header
  }
}

void ChunkLog::record(const Chunk& chunk) {
  const auto [known, is_new] = last_.try_emplace(chunk.number, chunk);
  // The copy with the larger offset is newer: writes of one chunk never overlap in time, and offsets only grow.
  if (!is_new && known->second.offset < chunk.offset) known->second = chunk;
}

void ChunkLog::read_new_headers() {
  const std::scoped_lock lock(mutex_);
  read_new_headers_locked();
}

void ChunkLog::read_new_headers_locked() {
  if (is_only_writer_) return;
  const std::int64_t log_end = end();
  if (next_header_ + kHeaderBytes > log_end) return;
  const std::int64_t file_end = file_->size();
  std::array<std::byte, kHeaderBytes> header{};
  while (next_header_ + kHeaderBytes <= log_end) {
    // Allocated space may not have been written yet, so that it may be after the end of the file: stop there.
    if (file_end < next_header_ + kHeaderBytes) return;
    file_->read({{next_header_, header.data(), kHeaderBytes}});
    if (number_in(header, kMarkOffset, 8) != mark_ || number_in(header, kChecksumOffset, 4) != header_checksum(header))
      return;
    const auto number = static_cast<std::int64_t>(number_in(header, kNumberOffset, 8));
    const auto bytes = static_cast<std::int64_t>(number_in(header, kBytesOffset, 8));
    if (number >= 0)
      record({number, next_header_ + kHeaderBytes, bytes,
              static_cast<std::uint32_t>(number_in(header, kFilterMaskOffset, 4))});
    next_header_ += kHeaderBytes + bytes;
    // The bytes of an entry that could not be written may be after the end of the file.
    if (number != kNotWritten) written_end_ = std::max(written_end_, next_header_);
  }
}

bool ChunkLog::is_complete() {
  const std::scoped_lock lock(mutex_);
  read_new_headers_locked();
  return is_only_writer_ || next_header_ == end();
}

void ChunkLog::renumber(base::FunctionRef<std::int64_t(std::int64_t)> new_number) {
  const std::scoped_lock lock(mutex_);
  read_new_headers_locked();
  std::unordered_map<std::int64_t, Chunk> renumbered;
  for (auto& [former, chunk] : last_) {
    chunk.number = new_number(former);
    if (chunk.number >= 0) renumbered.emplace(chunk.number, chunk);
  }
  last_ = std::move(renumbered);
}

void ChunkLog::skip_to(std::int64_t end) {
  const std::int64_t bytes = end - this->end();
  write_header(begin_ + counter_->fetch_add(bytes), kNoChunk, bytes - kHeaderBytes, 0);
}

std::optional<Chunk> ChunkLog::find_last(std::int64_t number) const {
  const std::scoped_lock lock(mutex_);
  const auto found = last_.find(number);
  return found == last_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Chunk> ChunkLog::list_chunks() {
  if (!is_complete())
    base::throw_system_error(EIO, "cannot finish ", file_->name(), ": what should be a chunk at offset ", next_header_,
                             " has not been written; write it again");
  std::vector<Chunk> chunks;
  for (const auto& [number, chunk] : last_) chunks.push_back(chunk);
  std::ranges::sort(chunks, {}, &Chunk::number);
  return chunks;
}

}  // namespace plait::container::hdf5
