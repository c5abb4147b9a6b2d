/// The interface of stores of named objects, in a folder, in memory or in a network.
///
/// A format whose arrays consist of many objects, such as Zarr, uses nothing else. The operations are those of S3:
/// reads of ranges, conditional puts, uploads in parts, lists by prefix. There is no rename and no lock, because a
/// network has neither. A partial change is a read and a put under the condition that no other program has put another
/// content in between. A store in a folder uses renames and locks to give the same guarantees.
///
/// Example: a program changes an attribute in `zarr.json`. get_whole() returns the text and its identity, and put()
/// replaces the object if it still has that identity. If put() returns false, another program was faster, and the
/// program begins again with the present text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "store/store.hpp"

namespace plait::store {

/// The identity of one content of an object. It differs from those of all other contents that the name has had or will
/// have: inode, times and size of a file, or the ETag of an object in a network. A default value represents an object
/// that does not exist.
struct ObjectIdentity {
  std::array<std::int64_t, 4> numbers{};
  std::string tag{};
  bool operator==(const ObjectIdentity&) const = default;
};

/// The identity that an object must have to be replaced; a default identity requires that it does not exist. Without a
/// condition any object is replaced.
using Condition = std::optional<ObjectIdentity>;

enum class GetStatus : std::uint8_t {
  kRead,     ///< the bytes are in memory
  kMissing,  ///< there is no such object
  kOutside,  ///< a range is not in the object; nothing was read
  kMatch,    ///< the object still has the identity `if_none_match`; nothing was read
  kMismatch  ///< the object has another identity than `if_match`; nothing was read
};

struct GetResult {
  GetStatus status = GetStatus::kMissing;
  std::int64_t bytes = 0;  ///< size of the whole object, for kRead and kOutside
  /// The identity, if the options request it. For kMatch it has the numbers that the server states, and the tag of the
  /// condition.
  ObjectIdentity identity{};

  bool found() const { return status == GetStatus::kRead; }
};

struct GetOptions {
  bool identity = false;  ///< requests the identity of the content that was read
  const ObjectIdentity* if_match = nullptr;
  const ObjectIdentity* if_none_match = nullptr;
  /// Size of the object that has the identity `if_match`; -1: the caller does not know it.
  std::int64_t object_bytes = -1;
  /// Maximum size of a whole object; a network abandons the transfer of a larger one.
  std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();
};

/// Compares the identity in `result` with the conditions of a read. If one is not met, it sets the status and returns
/// false.
bool meets(const GetOptions& options, GetResult& result);
/// Converts negative offsets, which count from the end of an object of `bytes` bytes, to offsets from its beginning.
/// Returns false if a range is not in the object.
bool resolve_offsets(std::vector<ReadSegment>& ranges, std::int64_t bytes);

/// One read of a batch (ObjectStore::get_all): ranges of an object as in get(), or the whole object.
struct GetRequest {
  std::string object{};
  std::vector<ReadSegment> ranges{};
  bool whole = false;
  GetOptions options{};
  GetResult result{};
};

/// Position of a write in a content: more parts follow, or it is the last one.
enum class Part : std::uint8_t { kMore, kLast };

/// A new content of an object. It is written in parts and appears as a whole at commit(): a file under a temporary
/// name, a multipart upload, or a buffer in memory. Without commit() no part of it appears.
/// threads  One at a time.
class NewObject {
 public:
  virtual ~NewObject() = default;
  NewObject(const NewObject&) = delete;
  NewObject& operator=(const NewObject&) = delete;

  virtual std::int64_t size() = 0;
  /// Changes the number of bytes; new ones are zero.  errors  kSystem.
  virtual void resize(std::int64_t bytes) = 0;
  /// Writes segments; a write after the end extends the content. After the last part a disk begins to write, and a
  /// network to send, while the caller prepares other objects.  errors  kSystem.
  virtual void write(std::vector<WriteSegment> segments, Part part) = 0;
  /// Reads what was written. A network store must retain the bytes for that until commit().  errors  kSystem.
  virtual void read(std::vector<ReadSegment> segments) = 0;
  /// Gives the content its name. Returns false without any change if the condition is not met.
  /// errors  kSystem.
  virtual bool commit(const Condition& condition) = 0;
  /// Gives the content its name when `condition` is met. If it is not, `update` adapts the content to the present
  /// object and returns the next condition. A folder holds a lock meanwhile, so that one call suffices; a network calls
  /// `update` again until the condition is met.
  /// errors  kSystem; exceptions of `update`. The content then has no name.
  virtual void commit(Condition condition, base::FunctionRef<Condition()> update) = 0;

 protected:
  NewObject() = default;
};

/// An object in a list.
struct ListedObject {
  std::string name;  ///< name without the prefix; `a/` stands for all objects whose names continue after it
  std::int64_t bytes = 0;
  std::string tag{};  ///< its ETag, if the list has all objects and states it
};

/// Visibility of objects to other programs while they are written.
enum class Sharing : std::uint8_t {
  kPrivate,  ///< no program sees them: the folder is new and has a temporary name
  /// No program sees them, but a later one may continue, so that each object must be old or new as a whole.
  kResumable,
  kShared  ///< any program may see them at any time
};

enum class ListDepth : std::uint8_t {
  kChildren,  ///< objects whose names have no further `/`, without their sizes, and `a/` for those that have one
  kAll        ///< all objects, with their sizes
};

/// Excludes other programs until it is destroyed, see ObjectStore::lock().
class ObjectLock {
 public:
  ObjectLock() = default;
  virtual ~ObjectLock() = default;
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;
};

/// Named objects below one location. Names have parts separated by `/`, none of which is empty, `.` or `..`.
/// threads  Any number at once; writes to different objects.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;

  /// Returns the location: a path or URL.
  const std::string& name() const { return name_; }
  /// Returns the location of an object.
  std::string object_location(std::string_view object) const;

  /// Reads ranges of an object into the caller's memory. A negative offset counts from the end of the object: -16 with
  /// 16 bytes is its last 16 bytes. Without ranges the result only has the size.
  /// cost  A folder opens, reads and closes a file; the identity takes two more calls. A network sends a request for
  ///       each range.
  /// errors  kSystem.
  virtual GetResult get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) = 0;
  GetResult get(const std::string& object, std::vector<ReadSegment> ranges) {
    return get(object, std::move(ranges), GetOptions{});
  }
  /// Reads a whole object into the memory that `memory` returns for its size; `memory` may throw.  errors  kSystem.
  virtual GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                              const GetOptions& options) = 0;
  /// Performs the reads of a batch in any order: a network has many requests in flight, a folder one.
  /// memory: returns memory for a whole object, given its size. The memory is in use until `done`.
  /// done: is called when the result of a request is set.
  /// Both are called on the caller's thread, with requests of the batch, and may throw; get_all() then returns when no
  /// request uses its memory.
  /// errors  kSystem: other reads of the batch may have been performed or not. Exceptions of the callbacks.
  using GetMemory = base::FunctionRef<std::span<std::byte>(GetRequest&, std::int64_t)>;
  using GetCallback = base::FunctionRef<void(GetRequest&)>;
  virtual void get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done);
  /// Returns the identity of an object; a default value if it does not exist.  errors  kSystem.
  virtual ObjectIdentity identity(const std::string& object) = 0;
  virtual bool contains(const std::string& object) = 0;
  /// Calls `visit` for the objects whose names begin with `prefix`, which is empty or ends with `/`, in any order. An
  /// empty list is no error.
  /// errors  kSystem; ENOTDIR: there is a file in place of a folder.
  virtual void list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) = 0;
  /// Returns false if list() always fails, as on HTTP servers.
  virtual bool has_lists() const { return true; }

  /// Replaces a whole object, or creates it. Returns false without any change if the condition is not met. If no other
  /// program sees the objects, a put without a condition may be complete only after finish_puts().
  /// errors  kSystem.
  virtual bool put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) = 0;
  void put(const std::string& object, std::span<const std::byte> bytes) { (void)put(object, bytes, std::nullopt); }
  /// Waits until all puts are complete.  errors  kSystem: one of them has failed.
  virtual void finish_puts() {}
  /// Begins a new content of an object.  errors  kSystem.
  virtual std::unique_ptr<NewObject> create(const std::string& object) = 0;
  /// Makes new contents durable together, before they get their names.  errors  kSystem.
  virtual void flush(std::span<NewObject* const> /*contents*/) {}
  /// Returns true if the location of all objects can be renamed, so that new ones appear at once (new_objects.hpp).
  virtual bool renames() const { return false; }
  /// Returns true if a store opened as Sharing::kResumable does not send objects that it has with the same bytes.
  virtual bool finds_equal_objects() const { return false; }
  /// Returns true if write() is supported. Otherwise a changed object is put as a whole.
  virtual bool writes_in_place() const { return false; }
  /// Writes parts of an existing object; readers may see some of them before others.  errors  kSystem.
  virtual void write(const std::string& object, std::vector<WriteSegment> segments);
  /// Removes an object; ignores one that does not exist.  errors  kSystem.
  virtual void remove(const std::string& object) = 0;
  /// Removes objects in any order: a network has many requests in flight.
  /// errors  kSystem: that of one object. Other objects may have been removed or not.
  virtual void remove_all(std::span<const std::string> objects);

  /// Checks that no other program has replaced or removed all objects since this store was opened. A store without
  /// folders does not notice that.
  /// errors  kSystem, ESTALE: it has.
  virtual void check() {}
  /// Excludes other callers of this function for the same location, such as other programs that extend an array, but
  /// neither readers nor writers. Returns nullptr if another caller holds the lock. A folder locks itself; S3 puts
  /// an object, which a killed program leaves; a store in memory excludes callers in this process only.
  /// errors  kSystem.
  virtual std::unique_ptr<ObjectLock> lock();
  /// Called at the end of an access that wrote, when no NewObject exists: removes their temporary data.
  virtual void end_writes() noexcept {}
  /// Returns once all that was put, committed or written survives a loss of power.  errors  kSystem.
  virtual void sync() {}
  /// Sets whether new objects begin to become durable as soon as they are complete, so that sync() takes less time.
  void set_durable(bool durable) { durable_ = durable; }

 protected:
  explicit ObjectStore(std::string name) : name_(std::move(name)) {}
  bool is_durable() const { return durable_; }

 private:
  std::string name_;
  bool durable_ = true;
};

}  // namespace plait::store
