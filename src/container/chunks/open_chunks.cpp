// Collecting chunks that are written in parts.
//
// Problem: a chunk is compressed or replaced as a whole, but a program may write it in many parts. Reading and putting
// the chunk for each part would multiply the cost.
//
// Idea: a write of all bytes of a chunk that are inside the array bypasses the buffers: the chunk is put immediately,
// and a buffered copy is dropped. Any other write reads the former chunk into a buffer, copies its parts to the buffer,
// and adds up their sizes, until the sum shows that the chunk is complete.
//
// Example: a chunk of 1,000 bytes at the end of an array has 600 bytes inside. A write of 600 bytes is put immediately;
// the other 400 bytes get the fill value. A write of 200 bytes reads the chunk; two more writes of 200 bytes complete
// it (600 >= 600). If a part is written twice, the sum reaches 600 too early. The chunk is then put before it is
// complete, which costs another read and put but loses no data, because the buffer holds the former bytes of the
// missing parts.
//
// A thread marks a buffer as in use, and releases the mutex while it reads, copies or puts. Threads that write
// different chunks therefore wait for each other only while they look up their buffers.

#include "container/chunks/open_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/buffer.hpp"

namespace plait::container {

namespace {

/// Maximum size of all buffered chunks.
constexpr std::int64_t kMaxOpenBytes = std::int64_t{16} << 20;
/// Number of chunks that may be buffered even if they are larger than that.
constexpr std::size_t kMinOpen = 2;

}  // namespace

void OpenChunks::write(std::int64_t number, std::span<const store::WriteSegment> parts) {
  std::int64_t bytes = 0;
  for (const store::WriteSegment& part : parts) bytes += part.bytes;
  if (bytes != chunks_.bytes_inside(number)) return add(number, parts);
  {
    std::unique_lock lock(mutex_);
    if (const Entry open = find_released(number, lock); open != open_.end()) drop(open);
  }
  const std::int64_t chunk_bytes = chunks_.chunk_bytes(number);
  if (bytes == chunk_bytes && parts.size() == 1)
    return chunks_.put(number, {parts.front().data, static_cast<std::size_t>(bytes)});
  static thread_local codec::Buffer buffer;
  const std::span<std::byte> chunk = buffer.acquire(static_cast<std::size_t>(chunk_bytes));
  if (bytes < chunk_bytes) chunks_.fill_chunk(number, chunk);
  for (const store::WriteSegment& part : parts)
    std::memcpy(chunk.data() + part.offset, part.data, static_cast<std::size_t>(part.bytes));
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
  const bool is_complete = chunk.written >= chunks_.bytes_inside(number);
  lock.lock();
  if (is_complete) return close(found, lock);
  chunk.in_use = false;
  released_.notify_all();
}

/// Returns the buffer of a chunk, or open_.end() if there is none. Waits while another thread uses the buffer.
OpenChunks::Entry OpenChunks::find_released(std::int64_t number, std::unique_lock<std::mutex>& lock) {
  Entry found = open_.find(number);
  for (; found != open_.end() && found->second.in_use; found = open_.find(number)) released_.wait(lock);
  return found;
}

/// Returns the buffer of a chunk, marked as in use by the caller. A new buffer holds the former bytes of the chunk.
OpenChunks::Entry OpenChunks::acquire(std::int64_t number, std::unique_lock<std::mutex>& lock) {
  if (const Entry found = find_released(number, lock); found != open_.end()) {
    found->second.in_use = true;
    return found;
  }
  const std::int64_t bytes = chunks_.chunk_bytes(number);
  close_others(bytes, lock);
  OpenChunk chunk;
  chunk.in_use = true;
  lock.unlock();
  try {
    chunk.bytes.resize(static_cast<std::size_t>(bytes));
    chunks_.read_old(number, chunk.bytes);
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
  open_bytes_ += bytes;
  return open_.emplace(number, std::move(chunk)).first;
}

void OpenChunks::close_others(std::int64_t bytes, std::unique_lock<std::mutex>& lock) {
  while (open_.size() >= kMinOpen && open_bytes_ + bytes > kMaxOpenBytes) {
    const auto unused = std::ranges::find_if(open_, [](const auto& entry) { return !entry.second.in_use; });
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

/// Puts a chunk that is marked as in use by the caller, and removes its buffer. If put() fails, the buffer remains.
void OpenChunks::close(Entry entry, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  try {
    chunks_.put(entry->first, entry->second.bytes);
  } catch (...) {
    lock.lock();
    entry->second.in_use = false;
    released_.notify_all();
    throw;
  }
  lock.lock();
  drop(entry);
  released_.notify_all();
}

void OpenChunks::drop(Entry entry) {
  open_bytes_ -= static_cast<std::int64_t>(entry->second.bytes.size());
  open_.erase(entry);
}

void OpenChunks::flush() {
  std::unique_lock lock(mutex_);
  while (!open_.empty()) close(open_.begin(), lock);
}

void OpenChunks::discard() noexcept {
  const std::scoped_lock lock(mutex_);
  open_.clear();
  open_bytes_ = 0;
}

}  // namespace plait::container
