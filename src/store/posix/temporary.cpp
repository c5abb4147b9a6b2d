// Temporary names, and how a process recognizes the names of a process that has ended.
//
// Example: `.field.npy.plait-node7-4711-0` is the temporary file of `field.npy`, made by process 4711 on host node7.
// Another process on node7 removes it if process 4711 does not exist (kill() fails with ESRCH) and the file's lock is
// free. Neither condition suffices alone: process 4711 may be alive in another PID namespace, where its number is not
// visible, and a living process may not have locked its new file yet. Processes on other hosts cannot check the number,
// so they leave the file alone; folders that have not changed for a week are removed by any host.

#include "store/posix/temporary.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include "base/errors.hpp"
#include "base/files/folder.hpp"
#include "base/text.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::store::posix {

namespace fs = std::filesystem;

namespace {

/// Bytes that follow the mark in a temporary name: process ID, counter and suffixes such as `-old.stripes`.
constexpr std::size_t kReservedSuffixBytes = 44;

/// Returns the name of this host, which is looked up once.
const std::string& host() {
  static const auto& name = *new std::string([] {
    std::array<char, 256> found{};
    ::gethostname(found.data(), found.size() - 1);
    return std::string(found.data());
  }());
  return name;
}

Error make_busy_error(const std::string& display_name) {
  return Error(
      ErrorKind::kSystem,
      base::text("cannot write ", display_name,
                 ": another program is writing it, and keeps what is unfinished; wait until that one has ended"),
      EBUSY);
}

/// Returns true if an open folder or a file in it has changed at or after `time`, or if that is unknown.
bool has_changed_since(int folder, const std::string& path, std::time_t time) {
  struct stat status{};
  if (::fstat(folder, &status) != 0 || status.st_mtime >= time) return true;
  std::error_code error;
  const auto names = base::names_in(path, error);
  return error || std::ranges::any_of(names, [&](const std::string& name) {
           return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_mtime >= time;
         });
}

}  // namespace

std::string temporary_folder() {
  const char* const setting = std::getenv("TMPDIR");
  return setting == nullptr || *setting == '\0' ? "/tmp" : setting;
}

std::size_t max_name_bytes(const fs::path& folder) {
  const long max_bytes = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  return max_bytes > 0 ? static_cast<std::size_t>(max_bytes) : NAME_MAX;
}

std::string shorten_name(const std::string& name, std::size_t reserved_bytes, std::size_t max_bytes) {
  if (name.size() + reserved_bytes <= max_bytes) return name;
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a with 64 bits: its initial value, and its prime below
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  const std::string hash_suffix = base::text('~', base::hexadecimal_text(hash));
  std::size_t length = max_bytes - std::min(max_bytes, reserved_bytes + hash_suffix.size());
  // Do not cut within a UTF-8 character: some file systems reject such names.
  while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0U) == 0x80U) --length;
  return name.substr(0, length) + hash_suffix;
}

std::string temporary_prefix(const fs::path& target, const fs::path& folder) {
  const std::string mark = base::text(".plait-", host(), '-');
  const std::string name = target.filename().string();
  return base::text('.', shorten_name(name, 1 + mark.size() + kReservedSuffixBytes, max_name_bytes(folder)), mark);
}

std::string without_host(const std::string& prefix) { return prefix.substr(0, prefix.size() - host().size() - 1); }

std::string unfinished_name(const fs::path& target, const fs::path& folder) {
  const std::string mark = ".plait-unfinished";
  const std::string name = target.filename().string();
  return base::text('.', shorten_name(name, 1 + mark.size() + kReservedSuffixBytes, max_name_bytes(folder)), mark);
}

std::string sibling_path(const std::string& folder, std::string_view array) {
  const std::size_t begin = std::min(array.find_first_not_of('/'), array.size());
  array = array.substr(begin, array.find_last_not_of('/') + 1 - begin);  // without slashes at either end
  std::string path = array.empty() ? folder : folder + "::";
  for (const char c : array) {
    if (c == '/') {
      path += "%2F";
    } else if (c == '%') {
      path += "%25";
    } else {
      path += c;
    }
  }
  return path;
}

bool lock_at_once(int file, const std::string& display_name) {
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return false;
    // The file system has no locks, or none for folders: NFS implements them as byte-range locks, which require write
    // access.
    if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL || errno == EBADF) return true;
    throw system_error(base::text("lock ", display_name), errno);
  }
  return true;
}

Descriptor lock_unfinished(const std::string& path, bool is_folder, const std::string& display_name, bool& existed) {
  struct stat before{};
  existed = ::lstat(path.c_str(), &before) == 0;
  if (is_folder && !existed && ::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    throw system_error(base::text("make the folder of ", display_name), errno);
  const int flags = is_folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT;
  Descriptor file = open_file(path, flags | O_NOFOLLOW, 0666, display_name);
  if (!lock_at_once(file.number(), display_name)) throw make_busy_error(display_name);
  // Between opening and locking, another program may have committed or removed the file: check that it still has this
  // name.
  struct stat locked{};
  struct stat named{};
  if (::fstat(file.number(), &locked) != 0 || ::lstat(path.c_str(), &named) != 0 || locked.st_dev != named.st_dev ||
      locked.st_ino != named.st_ino)
    throw make_busy_error(display_name);
  return file;
}

void remove_unfinished(const std::string& target, base::FunctionRef<void(const std::string&)> remove) {
  const fs::path path(target);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string prefix = unfinished_name(path, folder);
  std::error_code ignored;
  for (const std::string& name : base::names_in(folder.string(), ignored)) {
    if (!name.starts_with(prefix)) continue;
    const std::string leftover = (folder / name).string();
    bool existed = false;
    const Descriptor file = lock_unfinished(leftover, fs::is_directory(leftover, ignored), target, existed);
    remove(leftover);
  }
}

void remove_stale(const fs::path& folder, const std::string& prefix,
                  base::FunctionRef<void(const std::string&)> remove) {
  std::error_code ignored;
  for (const std::string& name : base::names_in(folder.string(), ignored)) {
    if (!name.starts_with(prefix)) continue;
    int process = 0;
    const char* name_end = name.data() + name.size();
    const auto [digits_end, error] = std::from_chars(name.data() + prefix.size(), name_end, process);
    if (error != std::errc() || digits_end == name_end || *digits_end != '-' || process <= 0) continue;
    // A file with this process's own number may be that of an earlier process, as in containers, where numbers repeat:
    // then only the lock decides.
    if (process != ::getpid() && (::kill(process, 0) == 0 || errno != ESRCH)) continue;
    // The process may be alive in another PID namespace; it then holds the lock.
    const std::string path = (folder / name).string();
    int number = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (number < 0 && errno == EISDIR) number = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const Descriptor file(number);
    if (file.number() < 0 || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;
    remove(path);
  }
}

void remove_abandoned(const fs::path& folder, const std::string& prefix, std::time_t now,
                      base::FunctionRef<void(const std::string&)> remove) {
  const std::time_t oldest = now - std::chrono::seconds(kAbandonedAfter).count();
  std::error_code error;
  for (const std::string& name : base::names_in(folder.string(), error)) {
    if (!name.starts_with(prefix)) continue;
    const std::string path = (folder / name).string();
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (file.number() < 0 || has_changed_since(file.number(), path, oldest)) continue;
    // NFS rejects an exclusive lock of a folder with EBADF; the age alone decides there.
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) continue;
    remove(path);
  }
}

bool rename_to_free(const std::string& from, const std::string& to) {
  // Called after a failed attempt: the name `to` exists, or errno is a real error.
  const auto expect_name_taken = [&] {
    if (errno != EEXIST) throw system_error("rename to " + to, errno);
    return false;
  };
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return expect_name_taken();
  // Some file systems do not support this flag. A hard link is equivalent, if the file system has them.
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return true;
  }
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) return expect_name_taken();
  if (::access(to.c_str(), F_OK) == 0) return false;
  return ::rename(from.c_str(), to.c_str()) == 0 || expect_name_taken();
}

void check_sticky(const fs::path& folder, uid_t owner, const std::string& display_name) {
  struct stat info{};
  if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & S_ISVTX) == 0) return;
  const uid_t user = ::geteuid();
  if (user == 0 || user == owner || user == info.st_uid) return;
  base::throw_system_error(EPERM, "cannot replace ", display_name, ": it belongs to another user, and the folder ",
                           folder.string(),
                           " lets nobody else replace it (its sticky bit is set); choose another name or folder");
}

}  // namespace plait::store::posix
