#include "store/posix/file_attributes.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/text.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/writer.hpp"

namespace plait::store::posix {

namespace {

constexpr const char* kAccessControlList = "system.posix_acl_access";
constexpr mode_t kOwnerAccess = S_IRUSR | S_IWUSR;
constexpr mode_t kPermissions = 07777;

/// Returns true for attributes that belong to the user, and for the access control list. All others belong to the
/// system: they describe the bytes or the location of a file and must not be copied.
bool is_copied(std::string_view name) {
  return (name.starts_with("user.") && name != kWriterMark) || name == kAccessControlList;
}

struct stat read_status(int file, const std::string& display_name) {
  struct stat found{};
  if (::fstat(file, &found) != 0) throw system_error("inspect " + display_name, errno);
  return found;
}

/// Sets the permissions of a file. status: the present status of the file.
void set_mode(int file, const struct stat& status, mode_t mode, const std::string& display_name) {
  if ((status.st_mode & kPermissions) == mode) return;
  // Some file systems have no permissions.
  if (::fchmod(file, mode) != 0 && errno != EPERM && errno != ENOTSUP)
    throw system_error("set the permissions of " + display_name, errno);
}

/// Returns the value, of any length, that `read(buffer, size)` yields; empty if there is none. what: what is being
/// done, for errors.
template <typename Read>
std::string read_all(Read&& read, const std::string& what) {
  std::string result;
  while (true) {
    const ssize_t size = read(nullptr, 0);
    if (size <= 0) {
      if (size == 0 || errno == ENOTSUP || errno == ENODATA) return {};
      throw system_error(what, errno);
    }
    result.resize(static_cast<std::size_t>(size));
    const ssize_t count = read(result.data(), result.size());
    if (count >= 0) {
      result.resize(static_cast<std::size_t>(count));
      return result;
    }
    if (errno != ERANGE) throw system_error(what, errno);  // ERANGE: the value has grown meanwhile, so try again
  }
}

/// Removes permissions of the group that others do not have.
mode_t restrict_group(mode_t mode) {
  constexpr int kGroupShift = 3;  // S_IRWXG is S_IRWXO << 3
  const mode_t allowed_to_others = (mode & S_IRWXO) << kGroupShift;
  return (mode & ~mode_t{S_IRWXG}) | (mode & S_IRWXG & allowed_to_others);
}

}  // namespace

Attributes Attributes::read_replaced(const std::string& path, const struct stat& status,
                                     const std::string& display_name) {
  Attributes result;
  result.mode_ = status.st_mode & kPermissions;
  result.owner_ = status.st_uid;
  result.group_ = status.st_gid;
  result.replaces_old_ = true;
  const std::string names =
      read_all([&](char* buffer, std::size_t size) { return ::listxattr(path.c_str(), buffer, size); },
               "list the attributes of " + display_name);
  for (std::size_t begin = 0; begin < names.size();) {  // each name ends with a zero byte
    const std::string name = names.c_str() + begin;
    begin += name.size() + 1;
    if (!is_copied(name)) continue;
    const auto read = [&](char* buffer, std::size_t size) {
      return ::getxattr(path.c_str(), name.c_str(), buffer, size);
    };
    result.extended_.push_back({name, read_all(read, base::text("keep the attribute ", name, " of ", display_name))});
  }
  return result;
}

Attributes Attributes::read_created(int file, const std::string& display_name) {
  const struct stat found = read_status(file, display_name);
  Attributes result;
  result.mode_ = found.st_mode & kPermissions;
  result.owner_ = found.st_uid;
  result.group_ = found.st_gid;
  return result;
}

void Attributes::apply(int file, const std::string& display_name) const {
  struct stat status = read_status(file, display_name);
  if (replaces_old_) {
    const bool changes_owner = status.st_uid != owner_ || status.st_gid != group_;
    // Usually only root may change the owner: if that fails, change the group alone.
    if (changes_owner && ::fchown(file, owner_, group_) != 0) (void)!::fchown(file, static_cast<uid_t>(-1), group_);
    bool has_access_list = false;
    for (const ExtendedAttribute& attribute : extended_) {
      has_access_list = has_access_list || attribute.name == kAccessControlList;
      if (::fsetxattr(file, attribute.name.c_str(), attribute.value.data(), attribute.value.size(), 0) != 0)
        throw system_error(base::text("keep the attribute ", attribute.name, " of ", display_name), errno);
    }
    // The folder may have given the new file an access list that the old one did not have.
    if (!has_access_list) ::fremovexattr(file, kAccessControlList);
    // Changing the owner or the access list may have changed the permissions: read them again.
    if (changes_owner || !extended_.empty()) status = read_status(file, display_name);
  }
  set_mode(file, status, (permissions_for(status) & ~mode_t{S_ISUID | S_ISGID}) | kOwnerAccess, display_name);
}

void Attributes::finish(int file, const std::string& display_name) const {
  const struct stat status = read_status(file, display_name);
  set_mode(file, status, permissions_for(status), display_name);
}

mode_t Attributes::permissions_for(const struct stat& status) const {
  mode_t mode = mode_;
  // Set-user-ID and set-group-ID must not apply to another owner or group.
  if (status.st_uid != owner_) mode &= ~mode_t{S_ISUID};
  if (status.st_gid != group_) mode = restrict_group(mode & ~mode_t{S_ISGID});
  return mode;
}

}  // namespace plait::store::posix
