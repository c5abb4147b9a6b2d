/// Objects as files in a folder: the object `c/0/1` of `a.zarr` is the file `a.zarr/c/0/1`.
///
/// A new content is a file in `.plait-changes` that is renamed, so that readers, and programs after a crash, find the
/// old object or the new one as a whole. In a shared folder it is synced first. A put with a condition holds a lock on
/// the present file while it compares and renames; all programs that replace objects take that lock, but no reader
/// does. In a private folder, which itself has a temporary name, new objects are written under their final names.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/identity.hpp"
#include "store/objects/folder/changes_folder.hpp"
#include "store/objects/folder/unsynced_files.hpp"
#include "store/objects/object_store.hpp"
#include "store/posix/posix_store.hpp"

namespace plait::store::folder {

inline ObjectIdentity to_object_identity(const Identity& file) {
  return {{static_cast<std::int64_t>(file.number), file.born, file.bytes, file.changed}, {}};
}

class FolderObjects : public ObjectStore {
 public:
  /// Attaches to a folder, which need not exist.  errors  kSystem: the folder exists and cannot be examined.
  FolderObjects(const std::string& folder, Sharing sharing);

  using ObjectStore::get;
  using ObjectStore::put;
  GetResult get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) override;
  GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                      const GetOptions& options) override;
  ObjectIdentity identity(const std::string& object) override;
  bool contains(const std::string& object) override;
  void list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) override;

  bool put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) override;
  std::unique_ptr<NewObject> create(const std::string& object) override;
  void flush(std::span<NewObject* const> contents) override;
  bool renames() const override { return true; }
  bool writes_in_place() const override { return true; }
  void write(const std::string& object, std::vector<WriteSegment> segments) override;
  void remove(const std::string& object) override;
  void check() override;
  std::unique_ptr<ObjectLock> lock() override;
  void end_writes() noexcept override { changes_.clear(); }
  void sync() override;

 private:
  friend class NewFile;

  /// Opens the file of an object; nullptr if there is none.
  /// errors  kSystem: ENOENT if the whole folder does not exist.
  std::unique_ptr<posix::PosixStore> open(const std::string& object) const;
  /// Sets size and identity in `result`. If a condition is not met, it sets the status as well and returns false.
  static bool examine(posix::PosixStore& file, const GetOptions& options, GetResult& result);
  /// Opens a file under its final name, and makes its folder if necessary. flags: see open().
  posix::Descriptor open_final(const std::string& path, int flags) const;
  void make_parent_folder(const std::string& path) const;
  /// Renames a complete file if the condition is met, or `update` makes it so. Otherwise it returns false.
  bool replace(const std::string& made, const std::string& path, Condition condition,
               const base::FunctionRef<Condition()>* update);
  void rename(const std::string& made, const std::string& path) const;

  Sharing sharing_;
  Identity folder_;  // identity of a shared folder
  ChangesFolder changes_;
  UnsyncedFiles unsynced_;
};

}  // namespace plait::store::folder
