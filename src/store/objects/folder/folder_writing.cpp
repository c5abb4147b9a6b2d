// Writes objects as files: under temporary names in a shared folder, under their final names in a private one.
//
// Problem: two programs may replace an object at the same time, each under the condition that it has not changed. A
// file system cannot rename a file under the condition that the present one has not changed.
//
// Idea: a program locks the present file, compares its identity with the condition, renames the new file to the name,
// and unlocks. Another program may rename its file to the name while this one waits for the lock: lock_name() therefore
// checks after locking that the file still has the name, and locks the new file otherwise.
// Example: A and B both replace object X, whose identity is 1, under the condition "identity 1". A gets the lock, finds
// identity 1, and renames its file: X now has identity 2. B then gets the lock of the old file, notices that the name
// belongs to another one, and locks that. It finds identity 2, and its put() returns false. If no file exists, there is
// nothing to lock; a rename that fails if the name is taken (rename_to_free) decides instead.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/objects/folder/folder_objects.hpp"
#include "store/posix/byte_lock.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/identity.hpp"
#include "store/posix/replacement.hpp"
#include "store/posix/temporary.hpp"

namespace plait::store::folder {

namespace {

using base::text;
using posix::PosixStore;
using posix::system_error;

/// Holds the lock by which programs replace a file one after another, and examines the file that has the name.
class PresentFile {
 public:
  explicit PresentFile(const std::string& path) : path_(path), lock_(posix::lock_name(path)) {
    struct stat status{};
    exists_ = lock_.number() >= 0 || ::stat(path.c_str(), &status) == 0;
  }
  bool exists() const { return exists_; }
  bool meets(const Condition& condition) const { return !condition || identity() == *condition; }

 private:
  ObjectIdentity identity() const {
    if (!exists_) return {};
    if (lock_.number() >= 0) return to_object_identity(posix::read_identity(lock_.number(), path_));
    return to_object_identity(PosixStore(path_, PosixStore::Access::kRead).identity());
  }

  const std::string& path_;
  posix::Descriptor lock_;
  bool exists_ = false;
};

}  // namespace

/// A new content in a file. The file is closed after the first part, because one access may write thousands of objects
/// at once, more than a process may have open files.
class NewFile : public NewObject {
 public:
  NewFile(FolderObjects& objects, const std::string& object)
      : objects_(objects), path_(objects.object_location(object)), is_shared_(objects.sharing_ == Sharing::kShared) {
    if (objects.sharing_ == Sharing::kPrivate && make_in_place()) return;
    ChangesFolder::CreatedFile temporary = objects.changes_.make(path_);
    current_path_ = std::move(temporary.path);
    unwritten_file_ = std::make_unique<PosixStore>(current_path_, std::move(temporary.file));
  }
  ~NewFile() override {
    if (!is_published_) ::unlink(current_path_.c_str());
    if (!is_in_place_) objects_.changes_.release();
  }

  std::int64_t size() override { return PosixStore(current_path_, PosixStore::Access::kRead).size(); }
  void resize(std::int64_t bytes) override {
    if (::truncate(current_path_.c_str(), bytes) != 0) throw system_error(text("size ", current_path_), errno);
    is_synced_ = false;
  }
  void write(std::vector<WriteSegment> segments, Part part) override {
    std::unique_ptr<PosixStore> file = std::move(unwritten_file_);
    if (!file) file = std::make_unique<PosixStore>(current_path_, PosixStore::Access::kReadWrite);
    file->write(std::move(segments));
    if (part == Part::kLast && objects_.is_durable()) file->start_sync();
    is_synced_ = false;
  }
  void read(std::vector<ReadSegment> segments) override {
    PosixStore(current_path_, PosixStore::Access::kRead).read(std::move(segments));
  }
  bool commit(const Condition& condition) override { return publish(condition, /*update=*/nullptr); }
  void commit(Condition condition, base::FunctionRef<Condition()> update) override {
    const auto updated = [&] {
      Condition next = update();
      if (is_shared_) sync();  // `update` may have written to the file
      return next;
    };
    const base::FunctionRef<Condition()> synced(updated);
    (void)publish(std::move(condition), &synced);
  }
  void sync() {
    if (!is_synced_) sync_file(current_path_);
    is_synced_ = true;
  }
  void set_synced() { is_synced_ = true; }

 private:
  /// Begins the file under its final name: in a private folder no other program sees it. Returns false if the object
  /// already exists.
  bool make_in_place() {
    try {
      unwritten_file_ = std::make_unique<PosixStore>(path_, objects_.open_final(path_, O_RDWR | O_CREAT | O_EXCL));
    } catch (const Error& error) {
      if (error.system_code() != EEXIST) throw;
      return false;
    }
    current_path_ = path_;
    is_in_place_ = true;
    return true;
  }
  /// Gives the file its final name, if it does not have it already. Returns false if the condition is not met and there
  /// is no `update`.
  bool publish(Condition condition, const base::FunctionRef<Condition()>* update) {
    if (is_in_place_) {  // the object did not exist, which meets a condition with a default identity
      while (condition && *condition != ObjectIdentity{}) {
        if (update == nullptr) return false;
        condition = (*update)();
      }
    } else {
      if (is_shared_) sync();
      if (!objects_.replace(current_path_, path_, std::move(condition), update)) return false;
    }
    is_published_ = true;
    // sync() has written the data of a shared file, so that only its name remains to be synced.
    is_shared_ ? objects_.unsynced_.add_name(path_) : objects_.unsynced_.add(path_);
    return true;
  }

  FolderObjects& objects_;
  std::string path_;                            // final path
  std::string current_path_;                    // path before publish(): a temporary one, or the final one
  std::unique_ptr<PosixStore> unwritten_file_;  // open until the first part is written
  bool is_shared_;
  bool is_in_place_ = false;
  bool is_published_ = false;
  bool is_synced_ = false;
};

void FolderObjects::make_parent_folder(const std::string& path) const {
  // Do not create the root folder again, which another program may have removed.
  struct stat status{};
  if (::stat(name().c_str(), &status) != 0)
    base::throw_system_error(errno, "cannot write ", path, ": its folder ", name(), " is no longer there");
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(parent, error);
  if (error) throw system_error(text("make the folder ", parent.string()), error.value());
}

posix::Descriptor FolderObjects::open_final(const std::string& path, int flags) const {
  try {
    return posix::open_file(path, flags);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
  }
  make_parent_folder(path);
  return posix::open_file(path, flags);
}

void FolderObjects::rename(const std::string& made, const std::string& path) const {
  if (::rename(made.c_str(), path.c_str()) == 0) return;
  if (errno != ENOENT) throw system_error(text("write ", path), errno);
  make_parent_folder(path);
  if (::rename(made.c_str(), path.c_str()) != 0) throw system_error(text("write ", path), errno);
}

bool FolderObjects::replace(const std::string& made, const std::string& path, Condition condition,
                            const base::FunctionRef<Condition()>* update) {
  if (sharing_ != Sharing::kShared && !condition) {
    rename(made, path);
    return true;
  }
  while (true) {
    const PresentFile present(path);
    while (!present.meets(condition)) {
      if (update == nullptr) return false;
      condition = (*update)();
    }
    if (present.exists()) {
      rename(made, path);
      return true;
    }
    struct stat folder{};
    if (::stat(std::filesystem::path(path).parent_path().c_str(), &folder) != 0) make_parent_folder(path);
    if (posix::rename_to_free(made, path)) return true;  // else another program has made the object: compare again
  }
}

std::unique_ptr<NewObject> FolderObjects::create(const std::string& object) {
  return std::make_unique<NewFile>(*this, object);
}

bool FolderObjects::put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  const std::string path = object_location(object);
  if (sharing_ == Sharing::kPrivate && !condition) {
    PosixStore file(path, open_final(path, O_RDWR | O_CREAT | O_TRUNC));
    file.write({{0, bytes.data(), size}});
    if (is_durable()) file.start_sync();
    unsynced_.add(path);
    return true;
  }
  if (sharing_ == Sharing::kShared) {
    const PresentFile present(path);
    if (!present.meets(condition)) return false;
    if (present.exists()) {
      // Replacement retains owner, group and extended attributes of the former file.
      posix::Replacement(path, size, bytes).commit();
      return true;
    }
  }
  bool is_committed = false;
  {
    NewFile file(*this, object);
    file.write({{0, bytes.data(), size}}, Part::kMore);
    is_committed = file.commit(condition);
  }
  if (sharing_ == Sharing::kShared) {
    changes_.clear_unused();
    // A replaced object is durable at once, so a new one must be as well.
    if (is_committed) posix::sync_folder(std::filesystem::path(path).parent_path().string());
  }
  return is_committed;
}

void FolderObjects::flush(std::span<NewObject* const> contents) {
  if (sharing_ != Sharing::kShared) return;
  if (contents.size() > kMaxSynced) {
    sync_file_system(name());
    for (NewObject* const content : contents) static_cast<NewFile*>(content)->set_synced();
    return;
  }
  for (NewObject* const content : contents) static_cast<NewFile*>(content)->sync();
}

void FolderObjects::write(const std::string& object, std::vector<WriteSegment> segments) {
  check();
  const std::string path = object_location(object);
  PosixStore(path, PosixStore::Access::kReadWrite).write(std::move(segments));
  unsynced_.add(path);
}

void FolderObjects::remove(const std::string& object) {
  const std::string path = object_location(object);
  if (::unlink(path.c_str()) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) throw system_error(text("remove ", path), errno);
    return;
  }
  unsynced_.add_name(path);
}

void FolderObjects::sync() {
  if (unsynced_.empty()) return;
  check();
  unsynced_.sync();
}

}  // namespace plait::store::folder
