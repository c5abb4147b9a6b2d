#include "mpiio/file_identity.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

namespace plait::mpiio {

namespace {

std::optional<FileIdentity> to_identity(int code, const struct stat& status) {
  if (code != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

}  // namespace

std::optional<FileIdentity> find_identity(int descriptor) {
  struct stat status{};
  return to_identity(::fstat(descriptor, &status), status);
}

std::optional<FileIdentity> find_identity(const std::string& path) {
  struct stat status{};
  return to_identity(::stat(path.c_str(), &status), status);
}

bool has_weak_coherence(const std::string& path) {
  // Values of statfs::f_type.
  constexpr std::array<std::uint64_t, 7> kTypes{0x6969,       // NFS
                                                0x517b,       // SMB
                                                0xfe534d42,   // SMB2
                                                0xff534d42,   // CIFS
                                                0x5346414f,   // AFS
                                                0x65735546,   // FUSE
                                                0x01021997};  // 9P
  struct statfs about{};
  if (::statfs(path.c_str(), &about) != 0) return true;
  for (const std::uint64_t type : kTypes)
    if ((static_cast<std::uint64_t>(about.f_type) & 0xffffffff) == type) return true;
  return false;
}

std::string find_path(std::string_view name) {
  if (name.empty() || name.front() == '/') return std::string(name);
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(name, error);
  return error ? std::string() : path.string();
}

OpenedPath::OpenedPath(std::string_view name, int descriptor)
    : path_(find_path(name)), descriptor_(descriptor), has_identity_(descriptor < 0) {
  if (has_identity_ && !path_.empty()) identity_ = find_identity(path_);
}

bool OpenedPath::is_current() {
  const std::scoped_lock lock(mutex_);
  if (!std::exchange(has_identity_, true)) identity_ = find_identity(descriptor_);
  return identity_ && find_identity(path_) == identity_;
}

bool OpenedPath::matches(int descriptor) { return is_current() && find_identity(descriptor) == identity_; }

std::string OpenedPath::find_current() {
  if (is_current()) return path_;
  return descriptor_ < 0 ? std::string() : "/proc/self/fd/" + std::to_string(descriptor_);
}

}  // namespace plait::mpiio
