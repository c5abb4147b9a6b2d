#include "container/hdf5/writing/chunk_log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>

#include "base/errors.hpp"
#include "container/hdf5/writing/chunk_tree.hpp"
#include "plait/error.hpp"

namespace plait::container::hdf5 {

namespace {

/// Before each packed chunk: the mark, its number, how many bytes follow, filters that are left out.
constexpr std::int64_t kHeaderBytes = 32;
/// The number of what could not be written.
constexpr std::int64_t kNoChunk = -1;

std::uint64_t number_in(std::span<const std::byte> header, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::to_integer<std::uint64_t>(header[at + i]) << (8 * i);
  return value;
}

}  // namespace

void ChunkLog::write_header(std::int64_t at, std::int64_t number, std::int64_t bytes, std::uint32_t left_out) {
  std::vector<std::byte> header;
  for (const std::uint64_t value :
       {mark_, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(bytes), std::uint64_t{left_out}})
    append_number(header, value, 8);
  file_->write({{at, header.data(), kHeaderBytes}});
}

void ChunkLog::append(std::int64_t number, std::span<const std::byte> packed, std::uint32_t left_out) {
  const auto bytes = static_cast<std::int64_t>(packed.size());
  const std::int64_t at = begin_ + counter_->fetch_add(kHeaderBytes + bytes);
  try {
    // The header comes last: who finds it finds the chunk.
    file_->write({{at + kHeaderBytes, packed.data(), bytes}});
    write_header(at, number, bytes, left_out);
  } catch (const Error&) {
    {
      const std::scoped_lock lock(mutex_);
      unmarked_.push_back({kNoChunk, at, bytes, 0});
    }
    mend();
    throw;
  }
  const std::scoped_lock lock(mutex_);
  take({number, at + kHeaderBytes, bytes, left_out});
}

void ChunkLog::mend() noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    for (; !unmarked_.empty(); unmarked_.pop_back())
      write_header(unmarked_.back().offset, kNoChunk, unmarked_.back().bytes, 0);
  } catch (const std::exception&) {  // there is no space yet: others find no header, and say so
  }
}

void ChunkLog::take(const Chunk& chunk) {
  const auto [known, is_new] = last_.try_emplace(chunk.number, chunk);
  // Chunks with a later allocation were written later, because accesses follow each other.
  if (!is_new && known->second.offset < chunk.offset) known->second = chunk;
}

void ChunkLog::look() {
  const std::scoped_lock lock(mutex_);
  look_locked();
}

void ChunkLog::look_locked() {
  if (alone_) return;
  const std::int64_t behind = end();
  std::array<std::byte, kHeaderBytes> header{};
  while (looked_ + kHeaderBytes <= behind) {
    // Space that other ranks have allocated and not written yet holds no chunk of this rank.
    if (file_->size() < looked_ + kHeaderBytes) return;
    file_->read({{looked_, header.data(), kHeaderBytes}});
    if (number_in(header, 0) != mark_) return;
    const auto number = static_cast<std::int64_t>(number_in(header, 8));
    const auto bytes = static_cast<std::int64_t>(number_in(header, 16));
    if (bytes < 0 || bytes > behind - looked_ - kHeaderBytes) return;  // half written
    if (number != kNoChunk)
      take({number, looked_ + kHeaderBytes, bytes, static_cast<std::uint32_t>(number_in(header, 24))});
    looked_ += kHeaderBytes + bytes;
  }
}

bool ChunkLog::complete() {
  const std::scoped_lock lock(mutex_);
  look_locked();
  return alone_ || looked_ == end();
}

std::optional<Chunk> ChunkLog::last(std::int64_t number) const {
  const std::scoped_lock lock(mutex_);
  const auto found = last_.find(number);
  return found == last_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Chunk> ChunkLog::all() {
  if (!complete())
    base::throw_system_error(EIO, "cannot finish ", file_->name(), ": what should be a chunk at offset ", looked_,
                             " has not been written; write it again");
  std::vector<Chunk> chunks;
  for (const auto& [number, chunk] : last_) chunks.push_back(chunk);
  std::ranges::sort(chunks, {}, &Chunk::number);
  return chunks;
}

}  // namespace plait::container::hdf5
