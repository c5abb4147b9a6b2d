#include "container/zarr/chunk_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using store::posix::Identity;
using store::posix::PosixStore;

/// Indices of shards are kept up to so many chunks, 16 MiB.
constexpr std::size_t kMostKept = std::size_t{1} << 20;

}  // namespace

ChunkFiles::ChunkFiles(std::string folder, const Metadata& metadata, Finders finders)
    : folder_(std::move(folder)),
      metadata_(metadata),
      fresh_(finders != Finders::kAnyone),
      in_place_(finders == Finders::kNobody),
      beside_(folder_) {
  if (!fresh_)
    folder_identity_ =
        store::posix::identity_of(store::posix::open_file(folder_, O_RDONLY | O_DIRECTORY).number(), folder_);
}

ChunkFiles::Location ChunkFiles::location_of(std::int64_t number) const {
  if (!metadata_.shards) return {number, 0};
  const Shards& shards = *metadata_.shards;
  Location location{number / shards.count, number % shards.count};
  if (metadata_.type.order == Order::kC) return location;
  // Those of a shard are in C order whatever that of the array is.
  std::int64_t rest = location.inside;
  Extents index(shards.chunks.size());
  for (std::size_t d = 0; d < index.size(); ++d) {
    index[d] = rest % shards.chunks[d];
    rest /= shards.chunks[d];
  }
  location.inside = 0;
  for (std::size_t d = 0; d < index.size(); ++d) location.inside = location.inside * shards.chunks[d] + index[d];
  return location;
}

std::string ChunkFiles::path_of(std::int64_t file) const {
  const std::size_t count = metadata_.grid.size();
  std::vector<std::int64_t> index(count);
  for (std::size_t i = 0; i < count; ++i) {
    // The fastest dimension first.
    const std::size_t d = metadata_.type.order == Order::kC ? count - 1 - i : i;
    index[d] = file % metadata_.grid[d];
    file /= metadata_.grid[d];
  }
  std::string name = text(folder_, '/', metadata_.prefix);
  if (count == 0) return metadata_.prefix.empty() ? name + '0' : name.substr(0, name.size() - 1);
  for (std::size_t d = 0; d < count; ++d) {
    if (d > 0) name += metadata_.separator;
    base::append(name, index[d]);
  }
  return name;
}

std::unique_ptr<PosixStore> ChunkFiles::opened(const std::string& file) const {
  try {
    return std::make_unique<PosixStore>(file, PosixStore::Access::kRead);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
  }
  struct stat found{};
  if (::stat(folder_.c_str(), &found) != 0)
    throw Error(ErrorKind::kSystem,
                text("cannot read ", folder_, ": its folder ", folder_, " is no longer there; open it again"), errno);
  return nullptr;
}

Identity ChunkFiles::identity(std::int64_t number) const {
  const std::unique_ptr<PosixStore> file = opened(path_of(location_of(number).file));
  return file ? file->identity() : Identity{};
}

std::shared_ptr<const std::vector<ShardEntry>> ChunkFiles::index_of(std::int64_t shard, PosixStore& file) {
  const Identity own = file.identity();
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(indices_, shard, &KeptIndex::shard);
    if (found != indices_.end() && found->of == own) return found->entries;
    if (found != indices_.end()) indices_.erase(found);
  }
  auto entries = std::make_shared<const std::vector<ShardEntry>>(read_index(*metadata_.shards, file));
  const std::scoped_lock lock(mutex_);
  indices_.push_back({shard, own, entries});
  while (indices_.size() > 1 && indices_.size() * entries->size() > kMostKept) indices_.pop_front();
  return entries;
}

std::optional<StoredChunk> ChunkFiles::find(std::int64_t number) {
  const Location location = location_of(number);
  if (metadata_.shards && !fresh_)
    if (std::optional<StoredChunk> put = find_put(location)) return put;
  StoredChunk found;
  if (!metadata_.shards && !fresh_) {
    const std::scoped_lock lock(made_mutex_);
    if (const auto made = made_.find(number); made != made_.end())
      found.file = std::make_unique<PosixStore>(made->second.made, PosixStore::Access::kRead);
  }
  if (!found.file) found.file = opened(path_of(location.file));
  if (!found.file) return std::nullopt;
  found.what = text("the chunk ", found.file->name());
  if (!metadata_.shards) {
    found.bytes = found.file->size();
    return found;
  }
  const auto inside = static_cast<std::size_t>(location.inside);
  ShardEntry entry;
  if (fresh_) {
    const std::shared_ptr<OpenShard> shard = open_shard(location.file);
    const std::scoped_lock lock(shard->mutex);
    look_again(*shard, found.file->name());
    entry = shard->entries[inside];
  } else {
    entry = (*index_of(location.file, *found.file))[inside];
  }
  if (!entry.there()) return std::nullopt;
  found.offset = static_cast<std::int64_t>(entry.offset);
  found.bytes = static_cast<std::int64_t>(entry.bytes);
  found.what = text("chunk ", location.inside, " of the shard ", found.file->name());
  return found;
}

std::shared_ptr<ChunkFiles::OpenShard> ChunkFiles::open_shard(std::int64_t number) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<OpenShard>& shard = open_shards_[number];
  if (!shard) shard = std::make_shared<OpenShard>();
  return shard;
}

void ChunkFiles::look_again(OpenShard& shard, const std::string& file) const {
  const Shards& shards = *metadata_.shards;
  if (shard.dirty) return;
  const std::unique_ptr<PosixStore> found = opened(file);
  // Whoever puts a chunk into a shard makes its file longer, or leaves the index as it is.
  const std::int64_t size = found ? found->size() : 0;
  if (size == shard.file_bytes) return;
  shard.entries.assign(static_cast<std::size_t>(shards.count), ShardEntry{});
  if (found) shard.entries = read_index(shards, *found);
  shard.end =
      shards.index_at_end ? std::max<std::int64_t>(size - shards.index_bytes, 0) : std::max(size, shards.index_bytes);
  shard.file_bytes = size;
}

}  // namespace plait::container::zarr
