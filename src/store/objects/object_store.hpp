/// Named objects in a folder, in memory or in a network: one interface, one folder a kind.
///
/// A format whose arrays consist of many objects, such as Zarr, uses nothing else.  The operations are those that S3 has:
/// reads of ranges, puts with a condition, uploads in parts, lists by prefix.  There is no rename and no lock, since a
/// network has neither; a change of a part is a read and a put with the condition that nobody has put another content in
/// between.  A store in a folder uses renames and locks to keep the same promises.
///
/// Example: a program changes an attribute in `zarr.json`.  get_whole() returns the text and its identity, and put()
/// replaces the object if it still has that identity.  If put() returns false, another program was faster, and the
/// program begins again with the text that is there now.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

/// Tells one content of an object from all others that have had, or will have, its name: inode, times and size of a file,
/// the ETag of an object in a network.  Without a value it stands for an object that does not exist.
struct ObjectIdentity {
  std::array<std::int64_t, 4> numbers{};
  std::string tag{};
  bool operator==(const ObjectIdentity&) const = default;
};

/// The identity that an object must have to be replaced; one without a value: it must not exist.  No condition:
/// whatever is there is replaced.
using Condition = std::optional<ObjectIdentity>;

enum class GetStatus : std::uint8_t {
  kRead,     ///< the bytes are in memory
  kMissing,  ///< there is no such object
  kOutside,  ///< a range is not in the object; nothing was read
  kMatch,    ///< it still has the identity `if_none_match`; nothing was read
  kMismatch  ///< it has another identity than `if_match`; nothing was read
};

struct GetResult {
  GetStatus status = GetStatus::kMissing;
  std::int64_t bytes = 0;     ///< size of the whole object, for kRead and kOutside
  ObjectIdentity identity{};  ///< only if the options ask for it

  bool found() const { return status == GetStatus::kRead; }
};

struct GetOptions {
  bool identity = false;  ///< the result has the identity of the content that was read
  const ObjectIdentity* if_match = nullptr;
  const ObjectIdentity* if_none_match = nullptr;
};

/// One read of a batch (ObjectStore::get_all): ranges of an object as for get(), or all of it.
struct GetRequest {
  std::string object{};
  std::vector<ReadSegment> ranges{};
  bool whole = false;
  GetOptions options{};
  GetResult result{};
};

/// Whether more of a content follows.
enum class Part : std::uint8_t { kMore, kLast };

/// The content of an object that is written in parts and appears as a whole by commit(): a file under a temporary name,
/// a multipart upload, a buffer in memory.  Without commit() nothing of it appears.
/// threads  One at a time.
class NewObject {
 public:
  virtual ~NewObject() = default;
  NewObject(const NewObject&) = delete;
  NewObject& operator=(const NewObject&) = delete;

  virtual std::int64_t size() = 0;
  /// Changes the number of bytes; new ones are zero.  errors  kSystem.
  virtual void resize(std::int64_t bytes) = 0;
  /// Writes beyond the end make it longer.  After the last part a disk begins to write, and a network to send, while the
  /// caller prepares other objects.  errors  kSystem.
  virtual void write(std::vector<WriteSegment> segments, Part part) = 0;
  /// Reads what was written.  A network cannot, and has to retain the bytes until commit().  errors  kSystem.
  virtual void read(std::vector<ReadSegment> segments) = 0;
  /// Gives the content its name.  Returns false, and leaves everything as it was, if the condition is not met.
  /// errors  kSystem.
  virtual bool commit(const Condition& condition) = 0;
  /// Gives the content its name when `condition` is met; if it is not, `update` adapts the content to the object that is
  /// there and returns the next condition.  A folder holds a lock meanwhile, so that one call suffices; a network calls
  /// `update` again until the condition is met.
  /// errors  kSystem; what `update` throws.  The content has no name then.
  virtual void commit(Condition condition, base::FunctionRef<Condition()> update) = 0;

 protected:
  NewObject() = default;
};

/// An object in a list.
struct ListedObject {
  std::string name;  ///< without the prefix; `a/` stands for all objects whose names go on behind it
  std::int64_t bytes = 0;
};

/// Which other programs find objects while they are written.
enum class Sharing : std::uint8_t {
  kPrivate,    ///< none: the folder is new and has a temporary name
  kResumable,  ///< none; a later program may go on, so that each object has to be old or new as a whole
  kShared      ///< any, at any time
};

enum class ListDepth : std::uint8_t {
  kChildren,  ///< objects whose names have no further `/`, without their sizes, and `a/` for those that have one
  kAll        ///< all objects, with their sizes
};

/// Names have parts with `/` between them, none of which is empty, `.` or `..`.
/// threads  Any number at once; writes to different objects.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;

  /// The location: a path or URL, for errors.
  const std::string& name() const { return name_; }
  /// The location of an object, for errors.
  std::string name_of(std::string_view object) const;

  /// Reads ranges of an object straight into the caller's memory.  An offset below 0 counts from the end of the object:
  /// -16 with 16 bytes is its last 16 bytes.  Without ranges the result has the size only.
  /// cost    A folder opens, reads and closes a file; the identity takes two more calls.  A network sends a request for
  ///         each range.
  /// errors  kSystem.
  virtual GetResult get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) = 0;
  GetResult get(const std::string& object, std::vector<ReadSegment> ranges) {
    return get(object, std::move(ranges), GetOptions{});
  }
  /// Reads all of an object into the memory that `memory` returns for its size; `memory` may throw.  errors  kSystem.
  virtual GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                              const GetOptions& options) = 0;
  /// Carries out the reads of a batch, in any order: a network has many requests under way, a folder one.
  /// memory  returns memory for a whole object, given its size.  The memory is in use until `done`.
  /// done    is called when the result of a request is set.
  /// Both are called on the caller's thread, with requests of the batch, and may throw; get_all() then returns when no
  /// request uses its memory.
  /// errors  kSystem: other reads of the batch may have been carried out or not.  What the callbacks throw.
  using GetMemory = base::FunctionRef<std::span<std::byte>(GetRequest&, std::int64_t)>;
  using GetDone = base::FunctionRef<void(GetRequest&)>;
  virtual void get_all(std::span<GetRequest> requests, GetMemory memory, GetDone done);
  /// The identity of an object; without a value if it does not exist.  errors  kSystem.
  virtual ObjectIdentity identity(const std::string& object) = 0;
  virtual bool contains(const std::string& object) = 0;
  /// Calls `visit` for the objects whose names begin with `prefix`, which is empty or ends with `/`, in no order.
  /// errors  kSystem; ENOTDIR: a file is where a folder would be.  Nothing to list is no error.
  virtual void list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) = 0;

  /// Replaces a whole object, or makes it.  Returns false, and leaves the object, if the condition is not met.
  /// errors  kSystem.
  virtual bool put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) = 0;
  void put(const std::string& object, std::span<const std::byte> bytes) { (void)put(object, bytes, std::nullopt); }
  /// Begins a new content of an object.  errors  kSystem.
  virtual std::unique_ptr<NewObject> create(const std::string& object) = 0;
  /// Makes new contents durable together, before they get their names.  errors  kSystem.
  virtual void flush(std::span<NewObject* const> /*contents*/) {}
  /// True if the location of all objects can be renamed, so that new ones appear at once (new_objects.hpp).
  virtual bool renames() const { return false; }
  /// True if write() is supported.  Where it is not, a changed object is put as a whole.
  virtual bool writes_in_place() const { return false; }
  /// Writes parts of an object that exists; readers may see some of them before others.  errors  kSystem.
  virtual void write(const std::string& object, std::vector<WriteSegment> segments);
  /// Ignores an object that does not exist.  errors  kSystem.
  virtual void remove(const std::string& object) = 0;

  /// errors  kSystem, ESTALE: all objects have been replaced or removed by another program since this was made.  A
  ///         store without folders does not notice that.
  virtual void check() {}
  /// Called at the end of an access that wrote, when no NewObject exists: removes what they needed.
  virtual void end_writes() noexcept {}
  /// Returns once all that was put, committed or written survives a loss of power.  errors  kSystem.
  virtual void sync() {}

 protected:
  explicit ObjectStore(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

}  // namespace plait::store
