/// A cache of the indexes of shards.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "container/zarr/chunks/shard_index.hpp"
#include "container/zarr/metadata.hpp"
#include "store/objects/object_store.hpp"

namespace plait::container::zarr {

/// Caches the indexes that were read most recently.  threads  Any number at once.
class IndexCache {
 public:
  /// Both arguments must outlive this object.
  IndexCache(store::ObjectStore& objects, const Metadata& metadata) : objects_(objects), metadata_(metadata) {}

  /// Returns the index of a shard, which is in `object`; nullptr if there is no such object.
  /// cached: set to true if the index was in the cache, so that the shard may have changed since.
  /// errors  Those of read_index().
  std::shared_ptr<const ShardIndex> find(std::int64_t shard, const std::string& object, bool& cached);
  /// Returns the index of a shard if it is in the cache; nullptr otherwise.
  std::shared_ptr<const ShardIndex> find_cached(std::int64_t shard);
  /// Removes the index of a shard from the cache.
  void drop(std::int64_t shard);
  void clear() noexcept;

 private:
  struct Entry {
    std::int64_t shard = 0;
    std::shared_ptr<const ShardIndex> index;
  };

  store::ObjectStore& objects_;
  const Metadata& metadata_;
  std::mutex mutex_;
  std::deque<Entry> entries_;  // the newest last
};

}  // namespace plait::container::zarr
