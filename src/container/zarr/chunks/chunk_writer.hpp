/// Writes of whole and partial chunks that cannot be changed in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "container/chunks/open_chunks.hpp"
#include "container/zarr/chunks/chunk_objects.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

class ChunkStore;

/// Encodes and puts chunks. A partly written chunk retains what the former chunk has in its other parts. The parts of a
/// large chunk arrive one after another, and are collected until it is complete, so that it is read, encoded and put
/// once.
/// threads  Any number at once, on different chunks, except flush() and discard().
class ChunkWriter : private WholeChunks {
 public:
  ChunkWriter(ChunkStore& store, ChunkObjects& chunks) : store_(store), chunks_(chunks) {}

  /// Writes parts of a chunk; offsets are relative to the chunk.
  /// errors  kSystem: the former chunk cannot be read, or the new one not be put.
  void write(std::int64_t number, const std::vector<store::WriteSegment>& parts);
  /// Puts the chunks that are not complete.  errors  Those of write().
  void flush();
  /// Discards the chunks that are not complete.
  void discard() noexcept;

 private:
  std::int64_t chunk_bytes(std::int64_t number) const override;
  std::int64_t bytes_inside(std::int64_t number) const override;
  void fill_chunk(std::int64_t number, std::span<std::byte> chunk) const override;
  void read_old(std::int64_t number, std::span<std::byte> chunk) override;
  void put(std::int64_t number, std::span<const std::byte> chunk) override;
  void put_from(std::int64_t number, std::span<const std::byte> chunk, const store::Condition& from);

  ChunkStore& store_;
  ChunkObjects& chunks_;
  OpenChunks open_{*this};
  std::mutex mutex_;
  std::map<std::int64_t, store::Condition> former_;  ///< conditions for put() of the chunks in open_ that were read
};

}  // namespace plait::container::zarr
