/// The objects that hold the chunks of an array: one for each chunk, or for each shard.
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
  kMissing,  ///< no object holds the chunk: its elements have the fill value
  kSame,     ///< the chunk has not changed, and nothing was read
  kRead
};

struct ChunkResult {
  ChunkStatus status = ChunkStatus::kMissing;
  /// Identity of the chunk's object or shard, if requested. It has no value if there is no object, or if its content
  /// has not been committed yet.
  store::ObjectIdentity identity{};
};

/// A chunk that is read together with others, see ChunkObjects::read_all().
struct ChunkRequest {
  std::int64_t number = 0;
  /// Parts of a chunk without codecs, by their offsets in it; empty: the stored bytes of the whole chunk.
  std::vector<store::ReadSegment> parts{};
  bool identity = false;                          ///< requests the identity in the result
  const store::ObjectIdentity* unless = nullptr;  ///< kSame if the chunk's object still has this identity
  ChunkResult result{};
};

struct ChunkReadOptions {
  bool identity = false;
  const store::ObjectIdentity* unless = nullptr;  ///< kSame if the chunk's object still has this identity
};

/// Returns true if parts of an array's chunks can be written in place, because chunks have no codecs and the object
/// store supports it.
inline bool changes_in_place(const Metadata& metadata, const store::ObjectStore& objects) {
  return metadata.has_no_codecs() && !metadata.shards && objects.writes_in_place();
}

/// Maximum number of times that the identity of a shard may change between two requests of one read.
inline constexpr int kMaxConflicts = 100;
/// Throws the error of an operation on a shard that has changed so often.
[[noreturn]] void throw_conflicts(const store::ObjectStore& objects, const char* operation, const std::string& shard);

/// Reads and writes chunks. If other programs may read the array, chunks are written as new contents of their objects.
/// The new content of an object is that of the chunk; that of a shard consists of the chunks that are put, and copies
/// of the others as they are stored. The contents are made durable together when an access ends, and then get their
/// names. Readers, and programs after a crash, find the old object or the new one, each as a whole.
/// threads  Any number at once, on different chunks.
class ChunkObjects {
 public:
  /// metadata: must outlive this object. is_new: true if the array is new, so that no other program reads its chunks.
  ChunkObjects(std::shared_ptr<store::ObjectStore> objects, const Metadata& metadata, bool is_new)
      : objects_(std::move(objects)),
        metadata_(metadata),
        is_new_(is_new),
        shards_in_place_(is_new && objects_->writes_in_place()),
        names_(metadata),
        indices_(*objects_, metadata) {}
  ChunkObjects(const ChunkObjects&) = delete;
  ChunkObjects& operator=(const ChunkObjects&) = delete;

  store::ObjectStore& objects() const { return *objects_; }
  bool is_new() const { return is_new_; }
  /// Describes a chunk for errors, as in `the chunk a.zarr/c/0`.
  std::string describe(std::int64_t number) const;

  /// Reads the stored bytes of a chunk into the memory that `memory` returns for their number.
  /// errors  kSystem: it cannot be read, the shard is damaged, or the array does not exist any more.
  ChunkResult read(std::int64_t number, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                   const ChunkReadOptions& options);
  /// Reads a part of a chunk without codecs. Returns false if no object holds the chunk.
  /// errors  Those of read(); the chunk has another size.
  bool read_part(std::int64_t number, const store::ReadSegment& part);

  /// Reads chunks, many at once if the object store supports that.
  /// memory: returns memory for the stored bytes of a chunk without parts, given their number; it is in use until
  /// `done`.
  /// done: is called when the result of a chunk is set.
  /// errors  Those of read() and read_part(); exceptions of the callbacks.
  using ChunkMemory = base::FunctionRef<std::span<std::byte>(ChunkRequest&, std::int64_t)>;
  using ChunkCallback = base::FunctionRef<void(ChunkRequest&)>;
  void read_all(std::span<ChunkRequest> chunks, ChunkMemory memory, ChunkCallback done);

  /// Writes a whole chunk. In a shard it is appended, or overwrites the version that was put before if that has the
  /// same size.
  /// condition: the identity that read() has returned, if the chunk contains elements from that read. If the object
  /// then has another identity, the commit fails instead of overwriting the change of another program.
  /// errors  kSystem.
  void put(std::int64_t number, std::span<const std::byte> encoded, const store::Condition& condition);
  /// Writes parts of a chunk without a new content of its object, which is created if it does not exist. Offsets are
  /// relative to the chunk.  errors  kSystem: a write fails, or the chunk has another size.
  void change(std::int64_t number, std::vector<store::WriteSegment> parts);
  /// Gives the new contents their names, and writes the indexes of shards that put() has changed in place. Only one
  /// process at a time may write to a shard between two calls.
  /// errors  kSystem: objects whose contents did not get their names are unchanged. Another program may have changed an
  ///         object of which put() has used elements, or replaced the array.
  void flush();
  /// Discards the new contents.
  void discard() noexcept;

 private:
  /// The new content of an object that holds a single chunk. Readers see it after commit_chunks().
  struct NewChunk {
    std::unique_ptr<store::NewObject> content;
    store::Condition condition;  ///< see put()
  };
  /// Adds a chunk to new_chunks_, and commits all of them if there are too many.
  void add_new(std::int64_t number, NewChunk chunk, std::int64_t bytes);
  /// Gives the new chunks their names. The caller holds new_mutex_.
  void commit_chunks();
  /// Writes a chunk of the fill value.
  void fill_whole(store::NewObject& content) const;
  [[noreturn]] void throw_size(const char* operation, std::int64_t number, std::int64_t bytes) const;
  [[noreturn]] void throw_changed(const std::string& object) const;
  /// Checks that an object still has the identity in the condition, if it has one.  errors  kSystem, EBUSY.
  void check_unchanged(const std::string& object, const store::Condition& condition) const;

  /// A shard that any number of threads of this process write to.
  struct OpenShard {
    std::mutex mutex;
    std::vector<ShardEntry> entries;
    std::int64_t end = 0;     ///< offset after the last chunk, where the next one is appended
    std::int64_t bytes = -1;  ///< size of the object when its index was written or read last; -1 before that
    bool dirty = false;       ///< true if chunks were put since the index was written
    std::unique_ptr<store::NewObject> content;  ///< nullptr if the shard is written in place
    store::Condition condition;  ///< identity of the shard from which a chunk was read to change a part of it
    std::int64_t put_end = 0;    ///< end of the chunks that were put; retained chunks follow
  };
  /// Returns the cached index of the shard of a chunk, by which chunks of a batch are read together; nullptr if there
  /// is none, or if the shard may have chunks that are not in its object yet.
  std::shared_ptr<const ShardIndex> find_index(std::int64_t number);
  /// Returns the request for the bytes of a chunk at the offset that the index states; nothing if the index does not
  /// have the chunk.
  std::optional<store::GetRequest> make_shard_request(ChunkRequest& chunk, const ShardIndex* index,
                                                      ChunkMemory memory) const;
  /// A function that gets the stored size of a chunk, and returns the part to read with its memory; the offset is
  /// relative to the chunk.
  using PartMemory = base::FunctionRef<store::ReadSegment(std::int64_t)>;
  /// Returns the state of a shard, which is created at the first call.
  std::shared_ptr<OpenShard> open_shard(std::int64_t number);
  ChunkResult read_from_shard(const ChunkLocation& location, PartMemory part, const ChunkReadOptions& options);
  /// Reads a chunk that was put into a new content since the last flush(). Returns false if it was not.
  bool read_new(const ChunkLocation& location, PartMemory part);
  /// Reads a chunk of a shard that this array's processes write in place.
  ChunkResult read_in_place(const ChunkLocation& location, PartMemory part);
  /// Reads the index again if another process may have changed it. The caller holds the shard's lock.
  void refresh(OpenShard& shard, const std::string& object) const;
  void put_in_shard(const ChunkLocation& location, std::span<const std::byte> encoded,
                    const store::Condition& condition);
  /// Appends the chunks of the former shard that were not put. The caller holds the shard's lock. Returns the condition
  /// that the shard is still the former one; nothing if another program has replaced it meanwhile.
  store::Condition retain_others(OpenShard& shard, const std::string& object) const;
  /// Undoes retain_others() after another program has replaced the shard: the retained chunks must be those of the new
  /// shard.
  static void drop_retained(OpenShard& shard);
  /// Writes the index. Returns the size of the object with it.
  std::int64_t write_index(OpenShard& shard, base::FunctionRef<void(std::vector<store::WriteSegment>)> write) const;
  /// Appends the retained chunks and the index. The caller holds the shard's lock. Returns the condition for commit().
  store::Condition complete_shard(OpenShard& shard, const std::string& object) const;
  void flush_shards();

  std::shared_ptr<store::ObjectStore> objects_;
  const Metadata& metadata_;
  bool is_new_;
  bool shards_in_place_;  ///< true if chunks are written into the objects of their shards
  ChunkNames names_;
  IndexCache indices_;

  std::mutex new_mutex_;                         // also held while contents get their names
  std::map<std::int64_t, NewChunk> new_chunks_;  // at most kMaxNewChunks
  std::int64_t new_bytes_ = 0;                   // at most kMaxNewBytes and the bytes of one chunk
  std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<OpenShard>> open_shards_;
};

}  // namespace plait::container::zarr
