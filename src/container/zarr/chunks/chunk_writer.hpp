/// Writes chunks, whole or in parts, that cannot be changed in place, because they are compressed or replaced as a
/// whole.
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

/// Encodes chunks, and puts them (ChunkObjects::put()). A partly written chunk retains the other elements of the former
/// chunk. The parts of a large chunk arrive one after another. They are collected until the chunk is complete, so that
/// it is read, encoded and put once.
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
  /// Encodes a chunk, and puts it under a condition.
  void put_if(std::int64_t number, std::span<const std::byte> chunk, const store::Condition& condition);

  ChunkStore& store_;
  ChunkObjects& chunks_;
  OpenChunks open_{*this};
  std::mutex mutex_;
  std::map<std::int64_t, store::Condition> conditions_;  ///< conditions for put() of the chunks in open_ that were read
};

}  // namespace plait::container::zarr
