#include "container/zarr/chunk_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/text.hpp"
#include "codec/room.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/replacement.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::text;
using store::posix::Identity;
using store::posix::open_file;
using store::posix::PosixStore;
using store::posix::system_error;

/// So many files are synced one by one; more of them with all that the file system has.
constexpr std::size_t kMostSynced = 64;
/// Indices of shards are kept up to so many chunks, 16 MiB.
constexpr std::size_t kMostKept = std::size_t{1} << 20;

}  // namespace

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
  found.file = opened(path_of(location.file));
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

void ChunkFiles::make_folder_of(const std::string& file) const {
  // Not the array's own, which somebody may have removed.
  struct stat found{};
  if (::stat(folder_.c_str(), &found) != 0)
    throw Error(ErrorKind::kSystem, text("cannot write ", file, ": its folder ", folder_, " is no longer there"),
                errno);
  std::error_code error;
  const fs::path parent = fs::path(file).parent_path();
  fs::create_directories(parent, error);
  if (error) throw system_error(text("make the folder ", parent.string()), error.value());
}

std::string ChunkFiles::make_new(const std::string& file) const {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  try {
    open_file(file, kFlags);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
    make_folder_of(file);
    open_file(file, kFlags);
  }
  return file;
}

std::string ChunkFiles::make_beside(const std::string& file) const {
  static std::atomic<int> counter{0};
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  while (true) {
    // Beside the chunks, where no reader looks.
    std::string made = text(folder_, "/.plait-", host.data(), '-', ::getpid(), '-', counter++);
    try {
      open_file(made, O_WRONLY | O_CREAT | O_EXCL);
    } catch (const Error& error) {
      if (error.system_code() == EEXIST) continue;
      throw;
    }
    constexpr mode_t kPermissions = 07777;
    struct stat old{};
    if (::stat(file.c_str(), &old) == 0) ::chmod(made.c_str(), old.st_mode & kPermissions);
    return made;
  }
}

void ChunkFiles::write_whole(const std::string& file, base::FunctionRef<void(PosixStore&)> fill) const {
  // A shard is made empty.
  const bool in_place = in_place_ || (fresh_ && metadata_.shards);
  const std::string made = in_place ? make_new(file) : make_beside(file);
  try {
    PosixStore store(made, PosixStore::Access::kReadWrite);
    fill(store);
    if (!in_place) give_name(made, file);
  } catch (...) {
    if (!in_place) ::unlink(made.c_str());
    throw;
  }
}

void ChunkFiles::give_name(const std::string& made, const std::string& file) const {
  if (::rename(made.c_str(), file.c_str()) == 0) return;
  if (errno != ENOENT) throw system_error(text("write ", file), errno);
  make_folder_of(file);
  if (::rename(made.c_str(), file.c_str()) != 0) throw system_error(text("write ", file), errno);
}

void ChunkFiles::note(const std::string& file) {
  const std::scoped_lock lock(mutex_);
  if (many_written_ || std::ranges::find(written_, file) != written_.end()) return;
  if (written_.size() < kMostSynced) return written_.push_back(file);
  many_written_ = true;
  written_.clear();
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

void ChunkFiles::put(std::int64_t number, std::span<const std::byte> packed) {
  if (metadata_.shards) return put_in_shard(location_of(number), packed);
  const std::string file = path_of(number);
  write_whole(file, [&](PosixStore& made) {
    made.write({{0, packed.data(), static_cast<std::int64_t>(packed.size())}});
    // All of a new array has to be durable in the end: the disk begins while others are still packed.
    if (fresh_) made.start_sync();
  });
  note(file);
}

void ChunkFiles::make_filled(const std::string& file) const {
  const bool zero = std::ranges::all_of(metadata_.fill, [](std::byte one) { return one == std::byte{}; });
  write_whole(file, [&](PosixStore& made) {
    if (zero) {
      if (::truncate(made.name().c_str(), metadata_.chunk_bytes) != 0) throw system_error(text("size ", file), errno);
      return;
    }
    codec::Room room;
    constexpr std::int64_t kBlock = std::int64_t{1} << 20;
    const auto element = static_cast<std::int64_t>(metadata_.fill.size());
    const std::int64_t block = std::min(metadata_.chunk_bytes, std::max(kBlock / element, std::int64_t{1}) * element);
    const std::span<std::byte> filled = room.of(static_cast<std::size_t>(block));
    for (std::size_t i = 0; i < filled.size(); ++i) filled[i] = metadata_.fill[i % metadata_.fill.size()];
    for (std::int64_t at = 0; at < metadata_.chunk_bytes; at += block)
      made.write({{at, filled.data(), std::min(block, metadata_.chunk_bytes - at)}});
  });
}

void ChunkFiles::patch(std::int64_t number, std::vector<store::WriteSegment> parts) {
  const std::string file = path_of(number);
  if (const std::unique_ptr<PosixStore> old = opened(file); !old) {
    make_filled(file);
  } else if (const std::int64_t size = old->size(); size != metadata_.chunk_bytes) {
    throw Error(ErrorKind::kSystem,
                text("cannot write the chunk ", file, ": it has ", size, " bytes, but a chunk has ",
                     metadata_.chunk_bytes, "; copy or download it again"),
                EIO);
  }
  PosixStore(file, PosixStore::Access::kReadWrite).write(std::move(parts));
  note(file);
}

void ChunkFiles::sync() {
  std::vector<std::string> written;
  bool many = false;
  {
    const std::scoped_lock lock(mutex_);
    written = std::exchange(written_, {});
    many = std::exchange(many_written_, false);
  }
  if (many) {
    const auto folder = open_file(folder_, O_RDONLY | O_DIRECTORY);
    if (::syncfs(folder.number()) != 0) throw system_error(text("sync ", folder_), errno);
    return;
  }
  std::set<std::string> folders;
  for (const std::string& file : written) {
    PosixStore(file, PosixStore::Access::kReadWrite).sync();
    for (fs::path at = fs::path(file).parent_path(); folders.insert(at.string()).second && at.string() != folder_;)
      at = at.parent_path();
  }
  for (const std::string& folder : folders) store::posix::sync_folder(folder);
}

}  // namespace plait::container::zarr
