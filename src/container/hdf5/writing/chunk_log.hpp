/// A log of compressed chunks to which all ranks append, in a file.
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

/// A log of chunks. A counter that all ranks share allocates space, so that chunks follow each other in the order of
/// allocation. A header of 32 bytes before each chunk describes it, so that any rank can list all chunks by reading one
/// header after the other. If a chunk is appended several times, the last copy counts.
/// threads  Any number at once, on different chunks.
class ChunkLog {
 public:
  /// begin: offset of the first header in the file. mark: the first 8 bytes of each header, a value that stale bytes in
  /// the file do not have.
  ChunkLog(std::shared_ptr<store::Store> file, std::int64_t begin, std::uint64_t mark)
      : file_(std::move(file)), begin_(begin), mark_(mark), next_header_(begin) {}
  /// Sets the counter, before the first call of another function. alone: true if no other process appends.
  void share(std::unique_ptr<transport::Counter> counter, bool alone) {
    counter_ = std::move(counter);
    alone_ = alone;
  }

  /// Appends a chunk. left_out: the filter mask, see Chunk.  errors  kSystem: the chunk is not in the log.
  void append(std::int64_t number, std::span<const std::byte> encoded, std::uint32_t left_out = 0);
  /// Appends bytes that are not a chunk, and returns their offset in the file.  errors  kSystem.
  std::int64_t append_heap(std::span<const std::byte> bytes);
  /// Writes headers for the space of chunks that could not be appended, for example because the disk was full, so that
  /// other ranks can skip that space. If that fails as well, a later call tries again.
  void mend() noexcept;
  /// Reads the headers that other ranks have written so far.
  void read_new_headers();
  /// Returns the last chunk of that number that this rank has appended or read_new_headers() has found.
  std::optional<Chunk> last(std::int64_t number) const;
  /// Returns the last chunk of each number, by ascending number.  errors  kSystem: another rank has not completed a
  /// chunk.
  std::vector<Chunk> all();
  /// Returns true if all allocated chunks are complete and known. Reads new headers like read_new_headers().
  bool complete();
  /// Renumbers all known chunks; those whose number becomes negative are discarded. Every rank calls it, with the same
  /// function, while no rank appends.
  void renumber(base::FunctionRef<std::int64_t(std::int64_t)> number);
  /// Makes all ranks skip the bytes up to `end`, which do not belong to the log. One rank calls it, while no rank
  /// appends. `end` must be at least kHeaderBytes after the end of the log.
  void skip_to(std::int64_t end);
  /// Size of the header of a chunk: the mark, its number and its bytes, of 8 bytes each, and its filter mask and a
  /// checksum, of 4 bytes each.
  static constexpr std::int64_t kHeaderBytes = 32;
  /// Returns the offset after all chunks.
  std::int64_t end() const { return begin_ + counter_->load(); }
  /// Returns the offset after the last entry that this rank has written or read_new_headers() has found; 0 if there is
  /// none. Space after it belongs to entries that could not be written.
  std::int64_t written_end() const {
    const std::scoped_lock lock(mutex_);
    return written_end_;
  }

 private:
  /// Writes the bytes of an entry and its header. Returns the offset of the bytes.
  std::int64_t write_entry(std::int64_t number, std::span<const std::byte> encoded, std::uint32_t left_out);
  void write_header(std::int64_t at, std::int64_t number, std::int64_t bytes, std::uint32_t left_out);
  /// Records a chunk. The caller holds the mutex.
  void record(const Chunk& chunk);
  void read_new_headers_locked();

  std::shared_ptr<store::Store> file_;
  const std::int64_t begin_;
  const std::uint64_t mark_;
  std::unique_ptr<transport::Counter> counter_;
  bool alone_ = true;
  mutable std::mutex mutex_;
  std::int64_t next_header_;  // offset of the next header that read_new_headers() reads
  std::int64_t written_end_ = 0;
  std::unordered_map<std::int64_t, Chunk> last_;  // the last copy of each chunk, by number
  std::vector<Chunk> unmarked_;                   // allocations of this rank that have no header yet
};

}  // namespace plait::container::hdf5
