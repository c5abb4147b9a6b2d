// Chunks that are written in parts.
//
// A write that covers all of a chunk inside the array bypasses the buffers: it is put at once, and replaces a buffered
// copy. Any other write reads the chunk as it is, applies its parts to the buffer, and adds their sizes.
//
// Example: a chunk of 1,000 bytes at the end of an array has 600 bytes inside. A write of 600 bytes is put at once; the
// other 400 have the fill value. A write of 200 bytes reads the chunk; two more of 200 bytes complete it (600 >= 600).
// If a part is written twice, the sum reaches 600 too early. The chunk is then put before it is complete, which costs
// another read and put, but loses nothing, because the buffer holds the former bytes of the missing parts.
//
// A thread marks a buffer as in use, and releases the mutex while it reads, copies or puts, so that threads with
// different chunks wait for each other only to find their buffers.

#include "container/chunks/open_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/buffer.hpp"

namespace plait::container {

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
    std::unique_lock lock(mutex_);
    if (const Entry open = find_released(number, lock); open != open_.end()) drop(open);
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
  std::unique_lock lock(mutex_);
  const Entry found = acquire(number, lock);
  OpenChunk& chunk = found->second;
  lock.unlock();
  for (const store::WriteSegment& part : parts) {
    std::memcpy(chunk.bytes.data() + part.offset, part.data, static_cast<std::size_t>(part.bytes));
    chunk.written += part.bytes;
  }
  const bool complete = chunk.written >= chunks_.inside(number);
  lock.lock();
  if (complete) return close(found, lock);
  chunk.in_use = false;
  released_.notify_all();
}

/// Returns the buffer of a chunk, or the end. Waits while another thread puts this chunk.
OpenChunks::Entry OpenChunks::find_released(std::int64_t number, std::unique_lock<std::mutex>& lock) {
  Entry found = open_.find(number);
  for (; found != open_.end() && found->second.in_use; found = open_.find(number)) released_.wait(lock);
  return found;
}

/// Returns the buffer of a chunk, in use by the caller. A new one has the chunk's former bytes.
OpenChunks::Entry OpenChunks::acquire(std::int64_t number, std::unique_lock<std::mutex>& lock) {
  if (const Entry found = find_released(number, lock); found != open_.end()) {
    found->second.in_use = true;
    return found;
  }
  const std::int64_t bytes = chunks_.chunk_bytes(number);
  close_others(bytes, lock);
  OpenChunk one;
  one.in_use = true;
  lock.unlock();
  try {
    one.bytes.resize(static_cast<std::size_t>(bytes));
    chunks_.read_old(number, one.bytes);
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
  open_bytes_ += bytes;
  return open_.emplace(number, std::move(one)).first;
}

void OpenChunks::close_others(std::int64_t bytes, std::unique_lock<std::mutex>& lock) {
  while (open_.size() >= kMinOpen && open_bytes_ + bytes > kMaxOpenBytes) {
    const auto unused = std::ranges::find_if(open_, [](const auto& one) { return !one.second.in_use; });
    if (unused == open_.end()) return;
    unused->second.in_use = true;
    close(unused, lock);
  }
}

bool OpenChunks::read(std::int64_t number, const store::ReadSegment& piece) {
  const std::scoped_lock lock(mutex_);
  const auto open = open_.find(number);
  if (open == open_.end()) return false;
  std::memcpy(piece.data, open->second.bytes.data() + piece.offset, static_cast<std::size_t>(piece.bytes));
  return true;
}

/// Puts a chunk that the caller uses, and removes its buffer. If that fails, the buffer remains.
void OpenChunks::close(Entry one, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  try {
    chunks_.put(one->first, one->second.bytes);
  } catch (...) {
    lock.lock();
    one->second.in_use = false;
    released_.notify_all();
    throw;
  }
  lock.lock();
  drop(one);
  released_.notify_all();
}

void OpenChunks::drop(Entry one) {
  open_bytes_ -= static_cast<std::int64_t>(one->second.bytes.size());
  open_.erase(one);
}

void OpenChunks::flush() {
  std::unique_lock lock(mutex_);
  while (!open_.empty()) close(open_.begin(), lock);
}

void OpenChunks::forget() noexcept {
  const std::scoped_lock lock(mutex_);
  open_.clear();
  open_bytes_ = 0;
}

}  // namespace plait::container
