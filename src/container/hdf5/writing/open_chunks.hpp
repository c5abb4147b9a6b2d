/// Chunks that are written in parts, each put together before it is packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "store/store.hpp"

namespace plait::container::hdf5 {

/// Where whole chunks come from, and where they go.  threads  Any number at once, on different chunks.
class WholeChunks {
 public:
  virtual ~WholeChunks() = default;
  virtual std::int64_t chunk_bytes(std::int64_t number) const = 0;
  /// Bytes of a chunk that lie in the array.
  virtual std::int64_t inside(std::int64_t number) const = 0;
  /// What it has where nobody has written.
  virtual void fill_chunk(std::int64_t number, std::span<std::byte> chunk) const = 0;
  /// As it was put last, or as it was before.  errors  kSystem.
  virtual void read_old(std::int64_t number, std::span<std::byte> chunk) = 0;
  /// errors  kSystem.
  virtual void put(std::int64_t number, std::span<const std::byte> chunk) = 0;
};

/// Whoever writes a part of a chunk has the rest read first, and the chunk is put when all of it has been written, or at
/// the end.  Chunks that are open take 16 MiB, or the space of two.
/// threads  Any number at once, on different chunks.
class OpenChunks {
 public:
  explicit OpenChunks(WholeChunks& chunks) : chunks_(chunks) {}

  /// Parts of one chunk, by offsets in it.
  void write(std::int64_t number, std::span<const store::WriteSegment> parts);
  /// Reads a piece of a chunk, by the offset in it.  Whether it is open.
  bool read(std::int64_t number, const store::ReadSegment& piece);
  /// Puts all that are open.
  void flush();
  /// Drops them.
  void forget() noexcept;

 private:
  struct Open {
    std::vector<std::byte> bytes;
    std::int64_t written = 0;
  };
  using Entry = std::map<std::int64_t, Open>::iterator;
  void add(std::int64_t number, std::span<const store::WriteSegment> parts);
  // Under the mutex, these.
  void close(Entry one);
  void drop(Entry one);

  WholeChunks& chunks_;
  std::mutex mutex_;
  std::map<std::int64_t, Open> open_;
  std::int64_t open_bytes_ = 0;
};

}  // namespace plait::container::hdf5
