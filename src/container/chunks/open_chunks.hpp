/// Buffers for chunks that are written in parts and must be complete before they are stored.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "store/store.hpp"

namespace plait::container {

/// The interface by which OpenChunks reads and writes whole chunks. Chunks are numbered in the order of the store.
/// threads  Any number at once, on different chunks.
class WholeChunks {
 public:
  virtual ~WholeChunks() = default;
  virtual std::int64_t chunk_bytes(std::int64_t number) const = 0;
  /// Returns the number of bytes of a chunk that are inside the array. The chunk is complete when they are written.
  virtual std::int64_t bytes_inside(std::int64_t number) const = 0;
  /// Fills a chunk with the fill value.
  virtual void fill_chunk(std::int64_t number, std::span<std::byte> chunk) const = 0;
  /// Reads a chunk as the last put() wrote it, or as it was in the file.  errors  kSystem.
  virtual void read_old(std::int64_t number, std::span<std::byte> chunk) = 0;
  /// Writes a whole chunk.  errors  kSystem.
  virtual void put(std::int64_t number, std::span<const std::byte> chunk) = 0;
};

/// Buffers of incomplete chunks. The first write to a part of a chunk reads the whole chunk into a buffer. A chunk is
/// put (WholeChunks::put()) when all of it has been written, when the buffers are full, or by flush(). Buffers need at
/// most 16 MiB, or the size of two chunks if that is more, in addition to the chunks that other threads are writing at
/// that moment.
/// threads  Any number at once, on different chunks, except flush() and discard().
class OpenChunks {
 public:
  explicit OpenChunks(WholeChunks& chunks) : chunks_(chunks) {}

  /// Writes parts of one chunk; offsets are relative to the chunk.
  void write(std::int64_t number, std::span<const store::WriteSegment> parts);
  /// Reads a piece of a buffered chunk; the offset is relative to the chunk. Returns false, without reading, if the
  /// chunk is not in a buffer.
  bool read(std::int64_t number, const store::ReadSegment& piece);
  /// Puts all buffered chunks.
  void flush();
  /// Discards all buffered chunks without writing them.
  void discard() noexcept;

 private:
  struct OpenChunk {
    std::vector<std::byte> bytes;
    std::int64_t written = 0;  ///< sum of the sizes of the parts that have been written
    bool in_use = false;       ///< true while a thread changes or puts it, which excludes other threads
  };
  using Entry = std::map<std::int64_t, OpenChunk>::iterator;
  /// Writes parts into the buffer of a chunk, and puts the chunk if it is then complete.
  void add(std::int64_t number, std::span<const store::WriteSegment> parts);
  // The functions below get the lock of the mutex, release it while they read or put, and hold it again when they
  // return or throw.
  Entry find_released(std::int64_t number, std::unique_lock<std::mutex>& lock);
  Entry acquire(std::int64_t number, std::unique_lock<std::mutex>& lock);
  /// Puts unused chunks until a new buffer of `bytes` bytes fits into the limit.
  void close_others(std::int64_t bytes, std::unique_lock<std::mutex>& lock);
  void close(Entry entry, std::unique_lock<std::mutex>& lock);
  /// Removes a buffer without writing its chunk.
  void drop(Entry entry);

  WholeChunks& chunks_;
  std::mutex mutex_;                        // guards the members below
  std::condition_variable released_;        // notified when a buffer is not in use any more
  std::map<std::int64_t, OpenChunk> open_;  // the buffers, by number of the chunk
  std::int64_t open_bytes_ = 0;             // total size of the buffers
};

}  // namespace plait::container
