/// A cache of metadata of a file in an object store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/store.hpp"

namespace plait::container::hdf5 {

/// A range of bytes of a file.
struct FileRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Recently read blocks of a file, and ranges that were read in advance. If the content of the file changes, it gets
/// another cache.
/// threads  One at a time.
class BlockCache {
 public:
  static constexpr std::int64_t kBlockBytes = std::int64_t{64} << 10;
  /// Maximum size of all blocks.
  static constexpr std::int64_t kMaxBytes = std::int64_t{16} << 20;
  /// Maximum size of a request that reads ahead.
  static constexpr std::int64_t kMaxAhead = std::int64_t{1} << 20;
  /// Maximum size of all ranges that prefetch() has read and that have not been dropped.
  static constexpr std::int64_t kMaxRanges = std::int64_t{128} << 20;
  /// Size of all ranges above which begin_prefetch() and end_file() drop them.
  static constexpr std::int64_t kMaxRetained = std::int64_t{8} << 20;

  /// Reads bytes. file: a store of the content that is cached here.  errors  Those of the store.
  void read(store::Store& file, std::int64_t offset, std::span<std::byte> into);
  /// Begins a group of calls of prefetch(). Drops the ranges of former groups if they exceed kMaxRetained.
  void begin_prefetch() { drop_large_ranges(); }
  /// Reads ranges by requests that are in flight together, and retains them. Skips ranges that are outside the file or
  /// in the cache already, and those that would make the retained ones exceed kMaxRanges.
  /// errors  Those of the store.
  void prefetch(store::Store& file, std::span<const FileRange> ranges);
  /// Drops all ranges.
  void drop_ranges();
  /// Drops the ranges if they are too large to be retained for the next file of the same content.
  void end_file() { drop_large_ranges(); }

 private:
  using Bytes = std::vector<std::byte>;
  struct Block {
    std::int64_t number = 0;
    Bytes bytes;
  };

  /// Returns the bytes of a range that prefetch() has read; nullptr if it has not read all of them.
  const std::byte* find_range(std::int64_t offset, std::int64_t bytes) const;
  void drop_large_ranges() {
    if (range_bytes_ > kMaxRetained) drop_ranges();
  }
  /// Returns a block. If it is not in memory, reads it and those that may be needed next.
  const Bytes& find_or_read_block(store::Store& file, std::int64_t number);
  /// Reads `count` blocks by one request, and caches those that are not in memory yet.
  void read_blocks(store::Store& file, std::int64_t first, std::int64_t count);
  /// Returns true if all blocks that a range touches are in memory.
  bool has_blocks(std::int64_t offset, std::int64_t bytes) const;

  std::list<Block> blocks_;                                                 ///< the most recently used one first
  std::unordered_map<std::int64_t, std::list<Block>::iterator> positions_;  ///< positions in blocks_, by number
  std::map<std::int64_t, Bytes> ranges_;  ///< ranges that prefetch() has read, by offset
  std::int64_t range_bytes_ = 0;          ///< size of all ranges
  std::int64_t next_block_ = 0;           ///< number of the block after those of the last request
  std::int64_t blocks_at_once_ = 1;       ///< maximum number of blocks of the last request
};

/// A store that reads another one through a cache.
/// threads  One at a time.
class CachedStore : public store::Store {
 public:
  /// file, cache: must outlive the object.
  CachedStore(store::Store& file, BlockCache& cache) : file_(file), cache_(cache) {}

  const std::string& name() const override { return file_.name(); }
  std::int64_t size() override { return file_.size(); }
  bool grows() const override { return false; }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override {
    return file_.submit_write(std::move(segments));
  }
  void sync() override {}

 private:
  store::Store& file_;
  BlockCache& cache_;
};

}  // namespace plait::container::hdf5
