// A log in a file to which all ranks append without messages.
//
// Problem: the size of a compressed chunk is known only after compression, so its offset cannot be computed in advance.
// Ranks compress at the same time and must not wait for each other. At the end one rank needs the list of all chunks.
//
// Idea: a shared counter allocates space by one atomic addition. Each chunk has a header with the mark, its number, its
// size and its filter mask. The header is written after the chunk, so that a header proves that its chunk is complete.
// A rank finds the chunks of the others by reading headers from the beginning, each of which yields the offset of the
// next.
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
// stops at 4,096, although the header at 4,228 may be complete. If the write of rank 0 fails, mend() writes a header
// with the number -2, by which other ranks skip the 132 bytes.

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

/// Number in the header of bytes that are not a chunk.
constexpr std::int64_t kNoChunk = -1;
/// Number in the header of an allocation whose bytes could not be written.
constexpr std::int64_t kNotWritten = -2;
/// Offset of the checksum in a header.
constexpr std::size_t kSumAt = 28;

/// Computes the checksum of the bytes of a header before it.
std::uint32_t header_sum(std::span<const std::byte> header) {
  return codec::compute_crc32c(header.first(kSumAt)) | 1U << 31;
}

}  // namespace

void ChunkLog::write_header(std::int64_t at, std::int64_t number, std::int64_t bytes, std::uint32_t left_out) {
  std::vector<std::byte> header;
  for (const std::uint64_t value : {mark_, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(bytes)})
    append_number(header, value, 8);
  append_number(header, left_out, 4);
  append_number(header, header_sum(header), 4);
  file_->write({{at, header.data(), kHeaderBytes}});
}

std::int64_t ChunkLog::write_entry(std::int64_t number, std::span<const std::byte> encoded, std::uint32_t left_out) {
  const auto bytes = static_cast<std::int64_t>(encoded.size());
  const std::int64_t at = begin_ + counter_->fetch_add(kHeaderBytes + bytes);
  try {
    // The header comes last: a rank that finds it can read the whole chunk.
    file_->write({{at + kHeaderBytes, encoded.data(), bytes}});
    write_header(at, number, bytes, left_out);
  } catch (const Error&) {
    {
      const std::scoped_lock lock(mutex_);
      unmarked_.push_back({kNotWritten, at, bytes, 0});
    }
    mend();
    throw;
  }
  const std::scoped_lock lock(mutex_);
  written_end_ = std::max(written_end_, at + kHeaderBytes + bytes);
  return at + kHeaderBytes;
}

void ChunkLog::append(std::int64_t number, std::span<const std::byte> encoded, std::uint32_t left_out) {
  const std::int64_t at = write_entry(number, encoded, left_out);
  const std::scoped_lock lock(mutex_);
  record({number, at, static_cast<std::int64_t>(encoded.size()), left_out});
}

std::int64_t ChunkLog::append_heap(std::span<const std::byte> bytes) { return write_entry(kNoChunk, bytes, 0); }

void ChunkLog::mend() noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    for (; !unmarked_.empty(); unmarked_.pop_back())
      write_header(unmarked_.back().offset, kNotWritten, unmarked_.back().bytes, 0);
  } catch (const std::exception&) {  // the disk is still full; other ranks report the missing header
  }
}

void ChunkLog::record(const Chunk& chunk) {
  const auto [known, is_new] = last_.try_emplace(chunk.number, chunk);
  // Compare offsets: accesses to one chunk never overlap in time, so that the later write has the later allocation.
  if (!is_new && known->second.offset < chunk.offset) known->second = chunk;
}

void ChunkLog::read_new_headers() {
  const std::scoped_lock lock(mutex_);
  read_new_headers_locked();
}

void ChunkLog::read_new_headers_locked() {
  if (alone_) return;
  const std::int64_t log_end = end();
  if (next_header_ + kHeaderBytes > log_end) return;
  const std::int64_t file_end = file_->size();
  std::array<std::byte, kHeaderBytes> header{};
  while (next_header_ + kHeaderBytes <= log_end) {
    // Allocated space may not have been written yet, so that it may be after the end of the file: stop there.
    if (file_end < next_header_ + kHeaderBytes) return;
    file_->read({{next_header_, header.data(), kHeaderBytes}});
    if (number_in(header, 0, 8) != mark_ || number_in(header, kSumAt, 4) != header_sum(header)) return;
    const auto number = static_cast<std::int64_t>(number_in(header, 8, 8));
    const auto bytes = static_cast<std::int64_t>(number_in(header, 16, 8));
    if (number >= 0)
      record({number, next_header_ + kHeaderBytes, bytes, static_cast<std::uint32_t>(number_in(header, 24, 4))});
    next_header_ += kHeaderBytes + bytes;
    if (number != kNotWritten) written_end_ = std::max(written_end_, next_header_);
  }
}

bool ChunkLog::complete() {
  const std::scoped_lock lock(mutex_);
  read_new_headers_locked();
  return alone_ || next_header_ == end();
}

void ChunkLog::renumber(base::FunctionRef<std::int64_t(std::int64_t)> number) {
  const std::scoped_lock lock(mutex_);
  read_new_headers_locked();
  std::unordered_map<std::int64_t, Chunk> renumbered;
  for (auto& [former, chunk] : last_) {
    chunk.number = number(former);
    if (chunk.number >= 0) renumbered.emplace(chunk.number, chunk);
  }
  last_ = std::move(renumbered);
}

void ChunkLog::skip_to(std::int64_t end) {
  const std::int64_t bytes = end - this->end();
  write_header(begin_ + counter_->fetch_add(bytes), kNoChunk, bytes - kHeaderBytes, 0);
}

std::optional<Chunk> ChunkLog::last(std::int64_t number) const {
  const std::scoped_lock lock(mutex_);
  const auto found = last_.find(number);
  return found == last_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Chunk> ChunkLog::all() {
  if (!complete())
    base::throw_system_error(EIO, "cannot finish ", file_->name(), ": what should be a chunk at offset ", next_header_,
                             " has not been written; write it again");
  std::vector<Chunk> chunks;
  for (const auto& [number, chunk] : last_) chunks.push_back(chunk);
  std::ranges::sort(chunks, {}, &Chunk::number);
  return chunks;
}

}  // namespace plait::container::hdf5
