// Chunks that are written in parts.
//
// A write that covers all of a chunk inside the array bypasses the buffers: it is put at once, and replaces a buffered
// copy. Any other write reads the chunk as it is, applies its parts to the buffer, and adds their sizes.
//
// Example: a chunk of 1,000 bytes at the end of an array has 600 bytes inside. A write of 600 bytes is put at once; the
// other 400 have the fill value. A write of 200 bytes reads the chunk; two more of 200 bytes complete it (600 >= 600).
// If a part is written twice, the sum reaches 600 too early. The chunk is then put before it is complete, which costs
// another read and put, but loses nothing, because the buffer holds the former bytes of the missing parts.

#include "container/hdf5/writing/open_chunks.hpp"

#include <cstring>
#include <utility>

#include "codec/buffer.hpp"

namespace plait::container::hdf5 {

namespace {

/// Limit for the bytes of buffered chunks.
constexpr std::int64_t kMaxOpenBytes = std::int64_t{16} << 20;
constexpr std::size_t kMinOpen = 2;

}  // namespace

void OpenChunks::write(std::int64_t number, std::span<const store::WriteSegment> parts) {
  std::int64_t bytes = 0;
  for (const store::WriteSegment& part : parts) bytes += part.bytes;
  if (bytes != chunks_.inside(number)) return add(number, parts);
  {
    const std::scoped_lock lock(mutex_);
    if (const auto open = open_.find(number); open != open_.end()) drop(open);
  }
  const std::int64_t all = chunks_.chunk_bytes(number);
  if (bytes == all && parts.size() == 1)
    return chunks_.put(number, {parts.front().data, static_cast<std::size_t>(bytes)});
  static thread_local codec::Buffer buffer;
  const std::span<std::byte> chunk = buffer.acquire(static_cast<std::size_t>(all));
  if (bytes < all) chunks_.fill_chunk(number, chunk);
  for (const store::WriteSegment& one : parts)
    std::memcpy(chunk.data() + one.offset, one.data, static_cast<std::size_t>(one.bytes));
  chunks_.put(number, chunk);
}

void OpenChunks::add(std::int64_t number, std::span<const store::WriteSegment> parts) {
  const std::scoped_lock lock(mutex_);
  auto found = open_.find(number);
  if (found == open_.end()) {
    const std::int64_t bytes = chunks_.chunk_bytes(number);
    while (open_.size() >= kMinOpen && open_bytes_ + bytes > kMaxOpenBytes) close(open_.begin());
    OpenChunk one;
    one.bytes.resize(static_cast<std::size_t>(bytes));
    chunks_.read_old(number, one.bytes);
    found = open_.emplace(number, std::move(one)).first;
    open_bytes_ += bytes;
  }
  for (const store::WriteSegment& part : parts) {
    std::memcpy(found->second.bytes.data() + part.offset, part.data, static_cast<std::size_t>(part.bytes));
    found->second.written += part.bytes;
  }
  if (found->second.written >= chunks_.inside(number)) close(found);
}

bool OpenChunks::read(std::int64_t number, const store::ReadSegment& piece) {
  const std::scoped_lock lock(mutex_);
  const auto open = open_.find(number);
  if (open == open_.end()) return false;
  std::memcpy(piece.data, open->second.bytes.data() + piece.offset, static_cast<std::size_t>(piece.bytes));
  return true;
}

void OpenChunks::close(Entry one) {
  chunks_.put(one->first, one->second.bytes);
  drop(one);
}

void OpenChunks::drop(Entry one) {
  open_bytes_ -= static_cast<std::int64_t>(one->second.bytes.size());
  open_.erase(one);
}

void OpenChunks::flush() {
  const std::scoped_lock lock(mutex_);
  while (!open_.empty()) close(open_.begin());
}

void OpenChunks::forget() noexcept {
  const std::scoped_lock lock(mutex_);
  open_.clear();
  open_bytes_ = 0;
}

}  // namespace plait::container::hdf5
