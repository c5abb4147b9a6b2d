// Chunks that are written, each in a file of its own, and what of them has to be synced.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "codec/room.hpp"
#include "container/zarr/chunk_files.hpp"
#include "container/zarr/target.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/replacement.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::text;
using store::posix::Descriptor;
using store::posix::Identity;
using store::posix::open_file;
using store::posix::PosixStore;
using store::posix::system_error;

/// So many files are synced one by one; more of them with all that the file system has.
constexpr std::size_t kMostSynced = 64;
/// So many chunks are kept under other names before all of them are synced.
constexpr std::size_t kMostMade = 512;
/// And so much room on the disk is taken for them.
constexpr std::int64_t kMostMadeBytes = std::int64_t{1} << 30;

/// All of the file system that a folder is in.
void sync_file_system(const std::string& folder) {
  const Descriptor opened = open_file(folder, O_RDONLY | O_DIRECTORY);
  if (::syncfs(opened.number()) != 0) throw system_error(text("sync ", folder), errno);
}

void sync_file(const std::string& file) { PosixStore(file, PosixStore::Access::kReadWrite).sync(); }

}  // namespace

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

void ChunkFiles::write_whole(const std::string& file, base::FunctionRef<void(PosixStore&)> fill) {
  // A shard is made empty.
  const bool in_place = in_place_ || (fresh_ && metadata_.shards);
  const std::string made = in_place ? make_new(file) : beside_.make(file);
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

void ChunkFiles::note(const std::string& file, bool synced) {
  const std::scoped_lock lock(mutex_);
  if (many_written_) return;
  if (synced)
    folders_.insert(fs::path(file).parent_path().string());
  else if (std::ranges::find(written_, file) == written_.end())
    written_.push_back(file);
  if (written_.size() <= kMostSynced && folders_.size() <= kMostSynced) return;
  many_written_ = true;
  written_.clear();
  folders_.clear();
}

void ChunkFiles::sync_all(const std::vector<std::string>& files) const {
  if (files.size() > kMostSynced) return sync_file_system(folder_);
  for (const std::string& file : files) sync_file(file);
}

void ChunkFiles::check_folder() const {
  Identity now;
  try {
    now = store::posix::identity_of(open_file(folder_, O_RDONLY | O_DIRECTORY).number(), folder_);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
  }
  if (now.number == folder_identity_.number && now.born == folder_identity_.born) return;
  throw Error(ErrorKind::kSystem,
              text("cannot write ", folder_, ": it has been ", now == Identity{} ? "removed" : "replaced",
                   " by another program since it was opened; open it again, and write again"),
              ESTALE);
}

void ChunkFiles::check_unchanged(const std::string& file, const std::optional<Identity>& from) const {
  if (!from) return;
  const std::unique_ptr<PosixStore> now = opened(file);
  if ((now ? now->identity() : Identity{}) == *from) return;
  throw Error(ErrorKind::kSystem,
              text("cannot write ", file,
                   ": another program has changed it while a part of a chunk in it was changed here; that of the other "
                   "one is kept; write again, or let each program write whole chunks"),
              EBUSY);
}

void ChunkFiles::make_chunk(std::int64_t number, base::FunctionRef<void(PosixStore&)> fill,
                            const std::optional<Identity>& from) {
  const std::string file = path_of(number);
  std::string made = beside_.make(file);
  std::int64_t bytes = 0;
  try {
    PosixStore store(made, PosixStore::Access::kReadWrite);
    fill(store);
    bytes = store.size();
  } catch (...) {
    ::unlink(made.c_str());
    throw;
  }
  const std::scoped_lock lock(made_mutex_);
  const auto [at, first] = made_.try_emplace(number, MadeChunk{made, from});
  if (!first) ::unlink(std::exchange(at->second.made, made).c_str());
  made_bytes_ += bytes;
  if (made_.size() >= kMostMade || made_bytes_ >= kMostMadeBytes) name_made();
}

void ChunkFiles::name_made() {
  if (made_.empty()) return;
  std::vector<std::string> files;
  for (const auto& [number, one] : made_) files.push_back(one.made);
  sync_all(files);
  check_folder();
  for (const auto& [number, one] : made_) check_unchanged(path_of(number), one.from);
  const NamingLocks locks(metadata_file(folder_));
  while (!made_.empty()) {
    const auto first = made_.begin();
    const std::string file = path_of(first->first);
    const NamingLocks::Held held(locks, first->first);
    check_unchanged(file, first->second.from);
    give_name(first->second.made, file);
    note(file, true);
    made_.erase(first);
  }
  made_bytes_ = 0;
}

void ChunkFiles::settle() {
  {
    const std::scoped_lock lock(made_mutex_);
    name_made();
  }
  if (metadata_.shards) settle_shards();
  if (!fresh_) forget();
  beside_.clear();
}

void ChunkFiles::forget() noexcept {
  if (fresh_) return;
  {
    const std::scoped_lock lock(made_mutex_);
    made_.clear();
    made_bytes_ = 0;
  }
  {
    const std::scoped_lock lock(mutex_);
    open_shards_.clear();
    indices_.clear();
  }
  beside_.clear();
}

void ChunkFiles::put(std::int64_t number, std::span<const std::byte> packed, const std::optional<Identity>& from) {
  if (metadata_.shards) return put_in_shard(location_of(number), packed, from);
  const auto fill = [&](PosixStore& made) {
    made.write({{0, packed.data(), static_cast<std::int64_t>(packed.size())}});
    // All has to be durable in the end: the disk begins while others are still packed.
    made.start_sync();
  };
  if (!fresh_) return make_chunk(number, fill, from);
  const std::string file = path_of(number);
  write_whole(file, fill);
  note(file);
}

void ChunkFiles::fill_whole(PosixStore& made) const {
  if (std::ranges::all_of(metadata_.fill, [](std::byte one) { return one == std::byte{}; })) {
    if (::truncate(made.name().c_str(), metadata_.chunk_bytes) != 0)
      throw system_error(text("size ", made.name()), errno);
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
}

void ChunkFiles::patch(std::int64_t number, std::vector<store::WriteSegment> parts) {
  const std::string file = path_of(number);
  if (!fresh_) {
    const std::scoped_lock lock(made_mutex_);
    if (const auto made = made_.find(number); made != made_.end())
      return PosixStore(made->second.made, PosixStore::Access::kReadWrite).write(std::move(parts));
  }
  if (const std::unique_ptr<PosixStore> old = opened(file); !old) {
    if (!fresh_) {
      const auto fill = [&](PosixStore& made) {
        fill_whole(made);
        made.write(std::move(parts));
        made.start_sync();
      };
      return make_chunk(number, fill, Identity{});
    }
    write_whole(file, [this](PosixStore& made) { fill_whole(made); });
  } else if (const std::int64_t size = old->size(); size != metadata_.chunk_bytes) {
    throw Error(ErrorKind::kSystem,
                text("cannot write the chunk ", file, ": it has ", size, " bytes, but a chunk has ",
                     metadata_.chunk_bytes, "; copy or download it again"),
                EIO);
  }
  if (!fresh_) check_folder();
  PosixStore(file, PosixStore::Access::kReadWrite).write(std::move(parts));
  note(file);
}

void ChunkFiles::sync() {
  std::vector<std::string> written;
  std::set<std::string> renamed;
  bool many = false;
  {
    const std::scoped_lock lock(mutex_);
    written = std::exchange(written_, {});
    renamed = std::exchange(folders_, {});
    many = std::exchange(many_written_, false);
  }
  if (!fresh_ && (many || !written.empty() || !renamed.empty())) check_folder();
  if (many) return sync_file_system(folder_);
  std::set<std::string> folders;
  const auto add = [&](fs::path at) {
    while (folders.insert(at.string()).second && at.string() != folder_) at = at.parent_path();
  };
  for (const std::string& file : written) {
    sync_file(file);
    add(fs::path(file).parent_path());
  }
  for (const std::string& folder : renamed) add(folder);
  for (const std::string& folder : folders) store::posix::sync_folder(folder);
}

}  // namespace plait::container::zarr
