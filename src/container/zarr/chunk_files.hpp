/// The files of an array's chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/shard_index.hpp"
#include "container/zarr/writing/replacements.hpp"
#include "store/posix/posix_store.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

/// Where a chunk lies, packed as it is.
struct StoredChunk {
  std::unique_ptr<store::posix::PosixStore> file;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::string what;  ///< for errors: `the chunk a.zarr/c/0`
};

/// Who may find chunks while they are being written.
enum class Finders : std::uint8_t {
  kNobody,     ///< the array is new: chunks may be written where they lie
  kSuccessor,  ///< it is new, and a later program may go on with it
  kAnyone      ///< it is there
};

/// Files that others see already are made anew beside them: a chunk's own as it is put, a shard from the chunks that are
/// put and, packed as they are, those that are kept.  They are synced together when an access ends, and get their names
/// then: readers, and whoever comes after a crash, find the old one or the new one as a whole.
/// threads  Any number at once, on different chunks.
class ChunkFiles {
 public:
  /// folder: of the array, whose metadata outlives this.  Where anyone or a successor may find chunks, each that is in a
  /// file of its own is the old one or the new one, whatever is killed when.
  ChunkFiles(std::string folder, const Metadata& metadata, Finders finders);
  ChunkFiles(const ChunkFiles&) = delete;
  ChunkFiles& operator=(const ChunkFiles&) = delete;

  const std::string& folder() const { return folder_; }
  bool fresh() const { return fresh_; }

  /// Nothing where no file holds the chunk.
  /// errors  kSystem: it cannot be read, or the shard is damaged; the array's folder has gone.
  std::optional<StoredChunk> find(std::int64_t number);
  /// What tells the chunk from others that have had, or will have, its name; of none: all 0.  errors  kSystem.
  store::posix::Identity identity(std::int64_t number) const;

  /// Writes a whole chunk; of a shard it goes behind those that are there, unless it fits where it was before.
  /// from: where it holds elements of the one that was there, the identity() of that before it was read.
  /// errors  kSystem.
  void put(std::int64_t number, std::span<const std::byte> packed,
           const std::optional<store::posix::Identity>& from = std::nullopt);
  /// Writes parts of a chunk that lies in a file of its own as it is; one that is not there yet is made.  Offsets count
  /// from its first byte.  errors  kSystem: also a chunk of another size.
  void patch(std::int64_t number, std::vector<store::WriteSegment> parts);
  /// Gives names to what has been made of files that others see, and writes the indices of shards that put() has changed.
  /// One process at a time writes to a shard in between.
  /// errors  kSystem: files that others see, and that have not got their names, are as they were; also where another
  ///         program has changed what put() has used elements of, or has replaced the array.
  void settle();
  /// Drops what put() has made of files that others see.
  void forget() noexcept;
  /// Returns once all that was written survives a loss of power.
  void sync();
  /// errors  kSystem, ESTALE: the folder of an array that was there has been replaced, or removed.
  void check_folder() const;

 private:
  struct Location {
    std::int64_t file = 0;    ///< the number of its file, its own or that of its shard
    std::int64_t inside = 0;  ///< its number in a shard
  };
  Location location_of(std::int64_t number) const;
  std::string path_of(std::int64_t file) const;
  std::unique_ptr<store::posix::PosixStore> opened(const std::string& file) const;
  void make_folder_of(const std::string& file) const;
  /// An empty file for a chunk of a new array; its folder is made as well.
  std::string make_new(const std::string& file) const;
  /// Makes a file of a new array anew, which `fill` writes; it gets its name when that is done.
  void write_whole(const std::string& file, base::FunctionRef<void(store::posix::PosixStore&)> fill);
  void fill_whole(store::posix::PosixStore& made) const;
  /// Has to be synced in the end: the file, or, where that has been done, only the folders that it is in.
  void note(const std::string& file, bool synced = false);
  /// A chunk in a file of its own that has been made while others see the former one.
  struct MadeChunk {
    std::string made;
    std::optional<store::posix::Identity> from;  ///< as for put()
  };
  void make_chunk(std::int64_t number, base::FunctionRef<void(store::posix::PosixStore&)> fill,
                  const std::optional<store::posix::Identity>& from);
  /// Gives their names to such chunks.  Under made_mutex_.
  void name_made();
  void sync_all(const std::vector<std::string>& files) const;
  void check_unchanged(const std::string& file, const std::optional<store::posix::Identity>& from) const;
  void settle_shards();
  /// A shard that is being written, by any number of threads of this process.
  struct OpenShard {
    std::mutex mutex;
    std::vector<ShardEntry> entries;
    std::int64_t end = 0;          ///< of its chunks
    std::int64_t file_bytes = -1;  ///< when its index was written or read last; -1: never
    bool dirty = false;
    std::string beside;  ///< the file that is made in place of one that others see; empty: there is none
    std::optional<store::posix::Identity> from;  ///< of the one that a chunk was read from to change a part of it
    store::posix::Identity kept_of;              ///< of the one that other chunks were copied from
    std::int64_t put_end = 0;                    ///< of the chunks that were put; those that are kept follow
  };
  std::shared_ptr<OpenShard> open_shard(std::int64_t number);
  /// Reads the index where another process may have changed it.  Under the shard's lock.
  void look_again(OpenShard& shard, const std::string& file) const;
  void put_in_shard(const Location& location, std::span<const std::byte> packed,
                    const std::optional<store::posix::Identity>& from);
  /// Of a chunk that has been put into a shard that others see, since the last settle().
  std::optional<StoredChunk> find_put(const Location& location);
  /// Gives `made`, which is complete, the name `file`.
  void give_name(const std::string& made, const std::string& file) const;
  /// Appends the chunks of the former one that have not been put.  Under the shard's lock.
  void keep_others(OpenShard& shard, store::posix::PosixStore& old) const;
  /// Returns the bytes of the file then.
  std::int64_t write_index(OpenShard& shard, store::posix::PosixStore& file) const;
  /// Makes one whole that has been made beside `file`.  Under the shard's lock.
  void complete(OpenShard& shard, const std::string& file) const;
  /// Gives it that name.
  void name_shard(OpenShard& shard, const std::string& file) const;
  std::shared_ptr<const std::vector<ShardEntry>> index_of(std::int64_t shard, store::posix::PosixStore& file);

  std::string folder_;
  const Metadata& metadata_;
  bool fresh_;
  bool in_place_;
  store::posix::Identity folder_identity_;  // where others see it
  Replacements beside_;

  std::mutex made_mutex_;                   // while names are given as well
  std::map<std::int64_t, MadeChunk> made_;  // at most kMostMade
  std::int64_t made_bytes_ = 0;             // at most kMostMadeBytes, and a chunk
  std::mutex mutex_;
  std::vector<std::string> written_;  // at most kMostSynced
  std::set<std::string> folders_;     // the same
  bool many_written_ = false;
  struct KeptIndex {
    std::int64_t shard = 0;
    store::posix::Identity of;
    std::shared_ptr<const std::vector<ShardEntry>> entries;
  };
  std::deque<KeptIndex> indices_;  // the newest last
  std::map<std::int64_t, std::shared_ptr<OpenShard>> open_shards_;
};

}  // namespace plait::container::zarr
