/// A log of compressed chunks in a file, to which all ranks append at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/function_ref.hpp"
#include "container/hdf5/dataset.hpp"
#include "store/store.hpp"
#include "transport/counter.hpp"

namespace plait::container::hdf5 {

/// A log of chunks. Its entries follow each other in the file. An entry is a header of 32 bytes, then the bytes of a
/// chunk. A counter that all ranks share allocates the space of entries. Any rank can list all chunks by reading one
/// header after the other. If a chunk is appended several times, the last copy counts.
/// threads  Any number at once, on different chunks.
class ChunkLog {
 public:
  /// begin: offset of the first header in the file. mark: the first 8 bytes of each header, a value that stale bytes in
  /// the file do not have.
  ChunkLog(std::shared_ptr<store::Store> file, std::int64_t begin, std::uint64_t mark)
      : file_(std::move(file)), begin_(begin), mark_(mark), next_header_(begin) {}
  /// Sets the counter, before the first call of another function. is_only_writer: true if no other process appends.
  void share(std::unique_ptr<transport::Counter> counter, bool is_only_writer) {
    counter_ = std::move(counter);
    is_only_writer_ = is_only_writer;
  }

  /// Appends a chunk. filter_mask: see Chunk.  errors  kSystem: the chunk is not in the log.
  void append(std::int64_t number, std::span<const std::byte> encoded, std::uint32_t filter_mask = 0);
  /// Appends a collection of HDF5's global heap, which stores texts. Returns its offset in the file.  errors  kSystem.
  std::int64_t append_heap(std::span<const std::byte> bytes);
  /// Writes headers for the space of chunks that could not be appended, for example because the disk was full, so that
  /// other ranks can skip that space. If that fails as well, a later call tries again.
  void write_missing_headers() noexcept;
  /// Reads the headers that other ranks have written so far.
  void read_new_headers();
  /// Returns the last copy of a chunk that this rank has appended or read_new_headers() has found.
  std::optional<Chunk> find_last(std::int64_t number) const;
  /// Returns the last copy of each chunk, by ascending number.
  /// errors  kSystem: a rank has allocated an entry but has not written its header.
  std::vector<Chunk> list_chunks();
  /// Calls read_new_headers(), and returns true if it has found the headers of all allocated entries.
  bool is_complete();
  /// Renumbers all known chunks; those whose number becomes negative are discarded. Every rank calls it, with the same
  /// function, while no rank appends.
  void renumber(base::FunctionRef<std::int64_t(std::int64_t)> new_number);
  /// Allocates the bytes up to `end`, which do not belong to the log, and writes a header by which all ranks skip them.
  /// One rank calls it, while no rank appends. `end` must be at least kHeaderBytes after the end of the log.
  void skip_to(std::int64_t end);
  /// Size of the header of a chunk: the mark, its number and its bytes, of 8 bytes each, and its filter mask and a
  /// checksum, of 4 bytes each.
  static constexpr std::int64_t kHeaderBytes = 32;
  /// Returns the offset after all allocated entries.
  std::int64_t end() const { return begin_ + counter_->load(); }
  /// Returns the offset after the last entry that this rank has written or read_new_headers() has found; 0 if there is
  /// none. Space between it and end() belongs to entries that could not be written.
  std::int64_t written_end() const {
    const std::scoped_lock lock(mutex_);
    return written_end_;
  }

 private:
  /// Writes the bytes of an entry and its header. Returns the offset of the bytes.
  std::int64_t write_entry(std::int64_t number, std::span<const std::byte> encoded, std::uint32_t filter_mask);
  void write_header(std::int64_t offset, std::int64_t number, std::int64_t bytes, std::uint32_t filter_mask);
  /// Records a chunk. The caller holds the mutex.
  void record(const Chunk& chunk);
  /// Does the work of read_new_headers(). The caller holds the mutex.
  void read_new_headers_locked();

  std::shared_ptr<store::Store> file_;
  const std::int64_t begin_;
  const std::uint64_t mark_;
  std::unique_ptr<transport::Counter> counter_;
  bool is_only_writer_ = true;  // then last_ has all chunks, and no header needs to be read
  mutable std::mutex mutex_;
  std::int64_t next_header_;  // offset of the next header that read_new_headers() reads
  std::int64_t written_end_ = 0;
  std::unordered_map<std::int64_t, Chunk> last_;  // the last copy of each chunk, by number
  // Entries of this rank that could not be written and have no header yet. Their Chunk::offset is that of the header.
  std::vector<Chunk> without_header_;
};

}  // namespace plait::container::hdf5
