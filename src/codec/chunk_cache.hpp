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

/// The chunks that reads have decompressed last, for further reads of parts of them. `Chunk` has a member `number`.
/// The cache holds at least one chunk, and drops the least recently used one if it is full.
///
/// Example: rows of 1000x1000 doubles in chunks of 100x100 are read one after another. Each row needs a part of 10
/// chunks of 80 KB. A cache of 800 KB decompresses each chunk once for 100 rows, a smaller one once for each row.
/// threads  Any.
template <typename Chunk>
class ChunkCache {
 public:
  explicit ChunkCache(std::int64_t chunk_bytes) : chunk_bytes_(std::max<std::int64_t>(chunk_bytes, 1)) {}

  /// Sets the maximum number of bytes; a single chunk may be larger.
  void resize(std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    most_ = static_cast<std::size_t>(std::max<std::int64_t>(bytes / chunk_bytes_, 1));
    shrink(most_);
  }
  /// Returns a chunk, or nullptr if it is not in the cache.
  std::shared_ptr<const Chunk> find(std::int64_t number) {
    const std::scoped_lock lock(mutex_);
    const auto entry = entries_.find(number);
    if (entry == entries_.end()) return nullptr;
    chunks_.splice(chunks_.begin(), chunks_, entry->second);
    return *chunks_.begin();
  }
  /// Adds a chunk. It replaces the one of the same number.
  void insert(std::shared_ptr<const Chunk> chunk) {
    const std::scoped_lock lock(mutex_);
    if (const auto entry = entries_.find(chunk->number); entry != entries_.end()) erase(entry->second);
    shrink(most_ - 1);
    const std::int64_t number = chunk->number;
    entries_[number] = chunks_.insert(chunks_.begin(), std::move(chunk));
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    shrink(0);
  }

 private:
  using Position = typename std::list<std::shared_ptr<const Chunk>>::iterator;

  void erase(Position position) {
    entries_.erase((*position)->number);
    chunks_.erase(position);
  }
  void shrink(std::size_t count) {
    while (chunks_.size() > count) erase(std::prev(chunks_.end()));
  }

  std::int64_t chunk_bytes_;
  std::size_t most_ = 1;
  std::mutex mutex_;
  std::list<std::shared_ptr<const Chunk>> chunks_;  ///< the most recently used one first
  std::unordered_map<std::int64_t, Position> entries_;
};

}  // namespace plait::codec
