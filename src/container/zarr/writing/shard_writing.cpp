// Shards that are being written.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "container/zarr/chunk_files.hpp"
#include "container/zarr/target.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using store::posix::Identity;
using store::posix::PosixStore;
using store::posix::system_error;

/// Bytes of kept chunks that are copied at once.
constexpr std::int64_t kCopied = std::int64_t{1} << 20;

struct KeptChunk {
  std::size_t inside = 0;
  ShardEntry old;
};

/// Copies `bytes` bytes from one offset to another.
void copy_bytes(PosixStore& from, std::int64_t begin, PosixStore& into, std::int64_t at, std::int64_t bytes) {
  std::vector<std::byte> room(static_cast<std::size_t>(std::min(bytes, kCopied)));
  for (std::int64_t done = 0; done < bytes; done += kCopied) {
    const std::int64_t count = std::min(kCopied, bytes - done);
    from.read({{begin + done, room.data(), count}});
    into.write({{at + done, room.data(), count}});
  }
}

}  // namespace

void ChunkFiles::put_in_shard(const Location& location, std::span<const std::byte> packed,
                              const std::optional<store::posix::Identity>& from) {
  const std::string file = path_of(location.file);
  const std::shared_ptr<OpenShard> shard = open_shard(location.file);
  const std::scoped_lock lock(shard->mutex);
  if (fresh_) {
    look_again(*shard, file);
    if (shard->file_bytes == 0 && !shard->dirty) write_whole(file, [](PosixStore&) {});
  } else if (shard->beside.empty()) {
    shard->entries.assign(static_cast<std::size_t>(metadata_.shards->count), ShardEntry{});
    shard->end = metadata_.shards->index_at_end ? 0 : metadata_.shards->index_bytes;
    shard->beside = beside_.make(file);
  }
  const auto bytes = static_cast<std::int64_t>(packed.size());
  ShardEntry& entry = shard->entries[static_cast<std::size_t>(location.inside)];
  // One that has been put before was read from there.
  if (!fresh_ && !entry.there() && !shard->from) shard->from = from;
  const bool anew = !entry.there() || entry.bytes != packed.size();
  const std::int64_t offset = anew ? shard->end : static_cast<std::int64_t>(entry.offset);
  shard->dirty = true;
  PosixStore(fresh_ ? file : shard->beside, PosixStore::Access::kReadWrite).write({{offset, packed.data(), bytes}});
  if (!anew) return;
  entry = {static_cast<std::uint64_t>(offset), packed.size()};
  shard->end += bytes;
}

std::optional<StoredChunk> ChunkFiles::find_put(const Location& location) {
  std::shared_ptr<OpenShard> shard;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = open_shards_.find(location.file);
    if (found == open_shards_.end()) return std::nullopt;
    shard = found->second;
  }
  const std::scoped_lock lock(shard->mutex);
  if (shard->beside.empty()) return std::nullopt;
  const ShardEntry& entry = shard->entries[static_cast<std::size_t>(location.inside)];
  if (!entry.there()) return std::nullopt;
  StoredChunk found;
  found.file = std::make_unique<PosixStore>(shard->beside, PosixStore::Access::kRead);
  found.offset = static_cast<std::int64_t>(entry.offset);
  found.bytes = static_cast<std::int64_t>(entry.bytes);
  found.what = text("chunk ", location.inside, " of the shard ", shard->beside);
  return found;
}

void ChunkFiles::keep_others(OpenShard& shard, PosixStore& old) const {
  const std::vector<ShardEntry> entries = read_index(*metadata_.shards, old);
  std::vector<KeptChunk> kept;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (shard.entries[i].there() || !entries[i].there()) continue;
    kept.push_back({i, entries[i]});
    all += entries[i].bytes;
    if (all > static_cast<std::uint64_t>(old.size()))
      throw Error(ErrorKind::kSystem,
                  text("cannot write the shard ", old.name(), ": its chunks have more bytes than the file, ",
                       old.size(), ", so some overlap; copy the array into a new one"),
                  EIO);
  }
  std::ranges::sort(kept, {}, [](const KeptChunk& one) { return one.old.offset; });
  PosixStore made(shard.beside, PosixStore::Access::kReadWrite);
  for (std::size_t i = 0; i < kept.size();) {
    // Those that follow each other go together.
    const auto begin = static_cast<std::int64_t>(kept[i].old.offset);
    std::int64_t end = begin;
    for (; i < kept.size() && static_cast<std::int64_t>(kept[i].old.offset) == end; ++i) {
      const ShardEntry& one = kept[i].old;
      shard.entries[kept[i].inside] = {static_cast<std::uint64_t>(shard.end + end - begin), one.bytes};
      end += static_cast<std::int64_t>(one.bytes);
    }
    copy_bytes(old, begin, made, shard.end, end - begin);
    shard.end += end - begin;
  }
}

std::int64_t ChunkFiles::write_index(OpenShard& shard, PosixStore& file) const {
  const std::vector<std::byte> index = index_bytes(*metadata_.shards, shard.entries);
  const bool at_end = metadata_.shards->index_at_end;
  const auto bytes = static_cast<std::int64_t>(index.size());
  file.write({{at_end ? shard.end : 0, index.data(), bytes}});
  return at_end ? shard.end + bytes : shard.end;
}

void ChunkFiles::complete(OpenShard& shard, const std::string& file) const {
  shard.kept_of = {};
  if (const std::unique_ptr<PosixStore> old = opened(file)) {
    shard.kept_of = old->identity();
    keep_others(shard, *old);
  }
  PosixStore made(shard.beside, PosixStore::Access::kReadWrite);
  shard.file_bytes = write_index(shard, made);
  made.start_sync();
}

void ChunkFiles::name_shard(OpenShard& shard, const std::string& file) const {
  check_unchanged(file, shard.from);
  while (true) {
    const std::unique_ptr<PosixStore> old = opened(file);
    if ((old ? old->identity() : Identity{}) == shard.kept_of) break;
    // Another program was faster: what is kept is of the one that is there now.
    for (ShardEntry& entry : shard.entries)
      if (entry.there() && static_cast<std::int64_t>(entry.offset) >= shard.put_end) entry = {};
    shard.end = shard.put_end;
    if (::truncate(shard.beside.c_str(), shard.end) != 0) throw system_error(text("write ", shard.beside), errno);
    complete(shard, file);
    PosixStore(shard.beside, PosixStore::Access::kReadWrite).sync();
  }
  give_name(shard.beside, file);
  shard.beside.clear();
}

void ChunkFiles::settle_shards() {
  std::vector<std::pair<std::int64_t, std::shared_ptr<OpenShard>>> all;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& one : open_shards_)
      if (one.second->dirty) all.emplace_back(one);
  }
  if (all.empty()) return;
  for (const auto& [number, shard] : all) {
    const std::scoped_lock lock(shard->mutex);
    shard->dirty = false;
    const std::string file = path_of(number);
    if (fresh_) {
      PosixStore written(file, PosixStore::Access::kReadWrite);
      shard->file_bytes = write_index(*shard, written);
      note(file);
    } else {
      shard->put_end = shard->end;
      complete(*shard, file);
    }
  }
  if (fresh_) return;
  std::vector<std::string> files;
  for (const auto& [number, shard] : all) files.push_back(shard->beside);
  sync_all(files);
  check_folder();
  for (const auto& [number, shard] : all) check_unchanged(path_of(number), shard->from);
  const NamingLocks locks(metadata_file(folder_));
  for (const auto& [number, shard] : all) {
    const std::string file = path_of(number);
    const NamingLocks::Held held(locks, number);
    name_shard(*shard, file);
    note(file, true);
  }
}

}  // namespace plait::container::zarr
