#include "container/zarr/chunks/index_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace plait::container::zarr {

namespace {

/// Maximum number of chunks in all cached indexes. Each takes 16 bytes, which makes 16 MiB.
constexpr std::size_t kMaxCached = std::size_t{1} << 20;

}  // namespace

std::shared_ptr<const ShardIndex> IndexCache::find_cached(std::int64_t shard) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(entries_, shard, &Entry::shard);
  return found != entries_.end() ? found->index : nullptr;
}

std::shared_ptr<const ShardIndex> IndexCache::find(std::int64_t shard, const std::string& object, bool& cached) {
  if (std::shared_ptr<const ShardIndex> known = find_cached(shard); known != nullptr) {
    cached = true;
    return known;
  }
  cached = false;
  std::optional<ShardIndex> read = read_index(*metadata_.shards, objects_, object);
  if (!read) return nullptr;
  auto index = std::make_shared<const ShardIndex>(std::move(*read));
  const std::scoped_lock lock(mutex_);
  // Another thread has added it meanwhile.
  std::erase_if(entries_, [&](const Entry& entry) { return entry.shard == shard; });
  entries_.push_back({shard, index});
  while (entries_.size() > 1 && entries_.size() * index->entries.size() > kMaxCached) entries_.pop_front();
  return index;
}

void IndexCache::drop(std::int64_t shard) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.shard == shard; });
}

void IndexCache::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

}  // namespace plait::container::zarr
