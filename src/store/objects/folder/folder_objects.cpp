#include "store/objects/folder/folder_objects.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/identity.hpp"
#include "store/posix/temporary.hpp"

namespace plait::store::folder {

namespace {

namespace fs = std::filesystem;
using base::text;
using posix::PosixStore;

/// Returns the identity of a folder; a default value if it does not exist.
Identity folder_identity(const std::string& folder) {
  try {
    return posix::read_identity(posix::open_file(folder, O_RDONLY | O_DIRECTORY).number(), folder);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT && error.system_code() != ENOTDIR) throw;
  }
  return {};
}

}  // namespace

FolderObjects::FolderObjects(const std::string& folder, Sharing sharing)
    : ObjectStore(folder.empty() ? "." : folder), sharing_(sharing), changes_(name()), unsynced_(name()) {
  if (sharing_ == Sharing::kShared) folder_ = folder_identity(name());
}

std::unique_ptr<PosixStore> FolderObjects::open(const std::string& object) const {
  try {
    return std::make_unique<PosixStore>(object_location(object), PosixStore::Access::kRead);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
  }
  struct stat found{};
  if (::stat(name().c_str(), &found) != 0)
    base::throw_system_error(errno, "cannot read ", name(), ": its folder ", name(),
                             " is no longer there; open it again");
  return nullptr;
}

bool FolderObjects::examine(PosixStore& file, const GetOptions& options, GetResult& result) {
  if (!options.identity && options.if_match == nullptr && options.if_none_match == nullptr) {
    result.bytes = file.size();
    return true;
  }
  const Identity identity = file.identity();
  result.bytes = identity.bytes;
  result.identity = to_object_identity(identity);
  return meets(options, result);
}

GetResult FolderObjects::get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) {
  GetResult result;
  const std::unique_ptr<PosixStore> file = open(object);
  if (!file || !examine(*file, options, result)) return result;
  result.status = GetStatus::kOutside;
  if (!resolve_offsets(ranges, result.bytes)) return result;
  if (!ranges.empty()) file->read(std::move(ranges));
  result.status = GetStatus::kRead;
  return result;
}

GetResult FolderObjects::get_whole(const std::string& object,
                                   base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                                   const GetOptions& options) {
  GetResult result;
  const std::unique_ptr<PosixStore> file = open(object);
  if (!file || !examine(*file, options, result)) return result;
  const std::span<std::byte> bytes = memory(result.bytes);
  if (result.bytes > 0) file->read({{0, bytes.data(), result.bytes}});
  result.status = GetStatus::kRead;
  return result;
}

ObjectIdentity FolderObjects::identity(const std::string& object) {
  const std::unique_ptr<PosixStore> file = open(object);
  return file ? to_object_identity(file->identity()) : ObjectIdentity{};
}

bool FolderObjects::contains(const std::string& object) {
  struct stat found{};
  return ::stat(object_location(object).c_str(), &found) == 0;
}

void FolderObjects::list(const std::string& prefix, ListDepth depth,
                         base::FunctionRef<void(const ListedObject&)> visit) {
  std::error_code error;
  const std::string folder = prefix.empty() ? name() : object_location(prefix.substr(0, prefix.size() - 1));
  const auto check = [&] {
    if (error && error.value() != ENOENT) throw posix::system_error(text("list ", folder), error.value());
  };
  if (depth == ListDepth::kChildren) {
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      std::error_code ignored;
      const std::string child = at->path().filename().string();
      if (child == kChanges) continue;
      visit({at->is_directory(ignored) && !at->is_symlink(ignored) ? child + '/' : child, 0});
    }
    return check();
  }
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename() == kChanges) at.disable_recursion_pending();
    if (!at->is_regular_file(ignored)) continue;
    const std::uintmax_t bytes = at->file_size(ignored);
    if (!ignored) visit({at->path().string().substr(folder.size() + 1), static_cast<std::int64_t>(bytes)});
  }
  check();
}

void FolderObjects::check() {
  if (sharing_ != Sharing::kShared) return;
  const Identity now = folder_identity(name());
  if (now.number == folder_.number && now.born == folder_.born) return;
  base::throw_system_error(ESTALE, "cannot write ", name(), ": it has been ",
                           now == Identity{} ? "removed" : "replaced",
                           " by another program since it was opened; open it again, and write again");
}

namespace {

/// A lock on a folder's inode. Replacing the array creates a new folder, which this lock does not cover.
class FolderLock : public ObjectLock {
 public:
  explicit FolderLock(posix::Descriptor folder) : folder_(std::move(folder)) {}

 private:
  posix::Descriptor folder_;
};

}  // namespace

std::unique_ptr<ObjectLock> FolderObjects::lock() {
  posix::Descriptor folder = posix::open_file(name(), O_RDONLY | O_DIRECTORY, 0, name());
  if (!posix::lock_at_once(folder.number(), name())) return nullptr;
  return std::make_unique<FolderLock>(std::move(folder));
}

}  // namespace plait::store::folder
