/// The objects that hold an array's chunks: one for each chunk, or for each shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "container/zarr/chunks/chunk_names.hpp"
#include "container/zarr/chunks/index_cache.hpp"
#include "container/zarr/chunks/shard_index.hpp"
#include "container/zarr/metadata.hpp"
#include "store/objects/object_store.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

enum class ChunkStatus : std::uint8_t {
  kMissing,  ///< no object holds it: its elements have the fill value
  kSame,     ///< it has not changed; nothing was read
  kRead
};

struct ChunkResult {
  ChunkStatus status = ChunkStatus::kMissing;
  /// Identity of the chunk's object, or of its shard, if that was asked for; without a value: there is none, or its
  /// content has not been committed yet.
  store::ObjectIdentity identity{};
};

/// A chunk that is read with others, see ChunkObjects::read_all().
struct ChunkRequest {
  std::int64_t number = 0;
  /// Parts of a chunk that is stored as it is, by their offsets in it; empty: the stored bytes of all of it.
  std::vector<store::ReadSegment> parts{};
  bool identity = false;                          ///< the result has the identity
  const store::ObjectIdentity* unless = nullptr;  ///< kSame if the chunk's object still has this identity
  ChunkResult result{};
};

struct ChunkReadOptions {
  bool identity = false;
  const store::ObjectIdentity* unless = nullptr;  ///< kSame if the chunk's object still has this identity
};

/// Chunks of an array that other programs read are written as new contents of their objects: a chunk's own object as it
/// is put, a shard from the chunks that are put and, as they are stored, those that are retained.  The contents are made
/// durable together when an access ends, and get their names then: readers, and programs after a crash, find the old
/// object or the new one as a whole.
/// threads  Any number at once, on different chunks.
class ChunkObjects {
 public:
  /// metadata: must outlive this.  fresh: the array is new, so that no other program reads its chunks.
  ChunkObjects(std::shared_ptr<store::ObjectStore> objects, const Metadata& metadata, bool fresh)
      : objects_(std::move(objects)),
        metadata_(metadata),
        fresh_(fresh),
        names_(metadata),
        indices_(*objects_, metadata) {}
  ChunkObjects(const ChunkObjects&) = delete;
  ChunkObjects& operator=(const ChunkObjects&) = delete;

  store::ObjectStore& objects() const { return *objects_; }
  bool fresh() const { return fresh_; }
  /// For errors: `the chunk a.zarr/c/0`.
  std::string describe(std::int64_t number) const;

  /// Reads the stored bytes of a chunk into the memory that `memory` returns for their number.
  /// errors  kSystem: it cannot be read, or the shard is damaged; the array does not exist any more.
  ChunkResult read(std::int64_t number, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                   const ChunkReadOptions& options);
  /// Reads a part of a chunk that is stored as it is; false: no object holds the chunk.
  /// errors  As read(); also a chunk of another size.
  bool read_part(std::int64_t number, const store::ReadSegment& part);

  /// Reads chunks, many at once if the store can.
  /// memory  returns memory for the stored bytes of a chunk without parts, given their number; in use until `done`.
  /// done    is called when the result of a chunk is set.
  /// errors  As read() and read_part(); what the callbacks throw.
  using ChunkMemory = base::FunctionRef<std::span<std::byte>(ChunkRequest&, std::int64_t)>;
  using ChunkDone = base::FunctionRef<void(ChunkRequest&)>;
  void read_all(std::span<ChunkRequest> chunks, ChunkMemory memory, ChunkDone done);

  /// Writes a whole chunk; in a shard it goes after the others, unless it fits where it was before.
  /// from: if it contains elements of the chunk that was read, the identity from read().
  /// errors  kSystem.
  void put(std::int64_t number, std::span<const std::byte> packed, const store::Condition& from);
  /// True if change() can write parts of a chunk where they are stored.
  bool changes_in_place() const { return metadata_.plain() && !metadata_.shards && objects_->writes_in_place(); }
  /// Writes parts of a chunk that is stored as it is in an object of its own; one that does not exist is made.  Offsets
  /// count from its first byte.  errors  kSystem: also a chunk of another size.
  void change(std::int64_t number, std::vector<store::WriteSegment> parts);
  /// Gives the new contents their names, and writes the indices of shards that put() has changed in place.  One process
  /// at a time writes to a shard in between.
  /// errors  kSystem: objects whose contents have not got their names are as they were; also if another program has
  ///         changed an object of which put() has used elements, or has replaced the array.
  void flush();
  /// Drops the new contents.
  void discard() noexcept;

 private:
  /// A new content of a chunk's own object.
  struct NewChunk {
    std::unique_ptr<store::NewObject> content;
    store::Condition from;  ///< as for put()
  };
  void add_new(std::int64_t number, NewChunk made, std::int64_t bytes);
  /// Gives the new chunks their names.  Under new_mutex_.
  void commit_chunks();
  void fill_whole(store::NewObject& content) const;
  [[noreturn]] void throw_size(const char* operation, std::int64_t number, std::int64_t bytes) const;
  [[noreturn]] void throw_changed(const std::string& object) const;
  void check_unchanged(const std::string& object, const store::Condition& from) const;

  /// A shard that is being written, by any number of threads of this process.
  struct OpenShard {
    std::mutex mutex;
    std::vector<ShardEntry> entries;
    std::int64_t end = 0;     ///< of its chunks
    std::int64_t bytes = -1;  ///< size of the object when its index was written or read last; -1: never
    bool dirty = false;
    std::unique_ptr<store::NewObject> content;  ///< nullptr: it is written in place
    store::Condition from;                      ///< of the shard from which a chunk was read to change a part of it
    std::int64_t put_end = 0;                   ///< of the chunks that were put; those that are retained follow
  };
  /// Memory for a part of a chunk that has so many bytes; the offset counts from the chunk's first byte.
  using PartOf = base::FunctionRef<store::ReadSegment(std::int64_t)>;
  bool writes_shards_in_place() const { return fresh_ && objects_->writes_in_place(); }
  std::shared_ptr<OpenShard> open_shard(std::int64_t number);
  ChunkResult read_from_shard(const ChunkLocation& location, PartOf part, const ChunkReadOptions& options);
  /// Reads a chunk that has been put into a new content since the last flush(); false: it has not.
  bool read_new(const ChunkLocation& location, PartOf part);
  ChunkResult read_in_place(const ChunkLocation& location, PartOf part);
  /// Reads the index again if another process may have changed it.  Under the shard's lock.
  void refresh(OpenShard& shard, const std::string& object) const;
  void put_in_shard(const ChunkLocation& location, std::span<const std::byte> packed, const store::Condition& from);
  /// Appends the chunks of the former shard that have not been put.  Under the shard's lock.  Returns the condition that
  /// the shard is still the former one; nothing if another program has replaced it meanwhile.
  store::Condition retain_others(OpenShard& shard, const std::string& object) const;
  /// Undoes retain_others() when another program has replaced the shard meanwhile: the retained chunks have to be those
  /// of the shard that is there now.
  static void drop_retained(OpenShard& shard);
  /// Returns the size of the object with the index.
  std::int64_t write_index(OpenShard& shard, base::FunctionRef<void(std::vector<store::WriteSegment>)> write) const;
  /// Appends the retained chunks and the index.  Under the shard's lock.  Returns the condition for commit().
  store::Condition complete(OpenShard& shard, const std::string& object) const;
  void flush_shards();

  std::shared_ptr<store::ObjectStore> objects_;
  const Metadata& metadata_;
  bool fresh_;
  ChunkNames names_;
  IndexCache indices_;

  std::mutex new_mutex_;                  // while names are given as well
  std::map<std::int64_t, NewChunk> new_;  // at most kMaxNew
  std::int64_t new_bytes_ = 0;            // at most kMaxNewBytes, and a chunk
  std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<OpenShard>> open_shards_;
};

}  // namespace plait::container::zarr
