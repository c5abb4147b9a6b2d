/// A cache of decompressed chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace plait::codec {

/// Caches the chunks that reads have decompressed last, for further reads of parts of them. `Chunk` has a member
/// `number`. A chunk is cached even if it is larger than the cache; the least recently used ones are dropped if the
/// cache is full.
///
/// Example: rows of 1000x1000 doubles in chunks of 100x100 are read one after another. Each row needs a part of 10
/// chunks of 80 KB. A cache of 800 KB decompresses each chunk once for 100 rows, a smaller one once for each row.
/// threads  Any.
template <typename Chunk>
class ChunkCache {
 public:
  /// chunk_bytes: size of a chunk that insert() adds without a size.
  explicit ChunkCache(std::int64_t chunk_bytes) : chunk_bytes_(std::max<std::int64_t>(chunk_bytes, 1)) {}

  /// Sets the maximum number of bytes; a single chunk may be larger.
  void resize(std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    max_bytes_ = bytes;
    while (entries_.size() > 1 && used_bytes_ > max_bytes_) drop_last();
  }
  /// Returns the maximum number of bytes.
  std::int64_t max_bytes() const {
    const std::scoped_lock lock(mutex_);
    return max_bytes_;
  }
  /// Returns a chunk, or nullptr if it is not in the cache.
  std::shared_ptr<const Chunk> find(std::int64_t number) {
    const std::scoped_lock lock(mutex_);
    const auto entry = positions_.find(number);
    if (entry == positions_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, entry->second);
    return entries_.front().chunk;
  }
  /// Adds a chunk, which replaces a chunk of the same number.
  void insert(std::shared_ptr<const Chunk> chunk) { insert(std::move(chunk), chunk_bytes_); }
  /// Adds a chunk of `bytes` bytes.
  void insert(std::shared_ptr<const Chunk> chunk, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    const std::int64_t number = chunk->number;
    if (const auto entry = positions_.find(number); entry != positions_.end()) erase(entry->second);
    while (!entries_.empty() && used_bytes_ > max_bytes_ - bytes) drop_last();
    entries_.insert(entries_.begin(), Entry{std::move(chunk), bytes});
    positions_[number] = entries_.begin();
    used_bytes_ += bytes;
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    while (!entries_.empty()) drop_last();
  }

 private:
  struct Entry {
    std::shared_ptr<const Chunk> chunk;
    std::int64_t bytes = 0;
  };
  using Position = typename std::list<Entry>::iterator;

  void erase(Position position) {
    used_bytes_ -= position->bytes;
    positions_.erase(position->chunk->number);
    entries_.erase(position);
  }
  void drop_last() { erase(std::prev(entries_.end())); }

  std::int64_t chunk_bytes_;
  std::int64_t max_bytes_ = 0;
  std::int64_t used_bytes_ = 0;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< the most recently used one first
  std::unordered_map<std::int64_t, Position> positions_;
};

}  // namespace plait::codec
