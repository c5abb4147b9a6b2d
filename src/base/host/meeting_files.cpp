#include "base/host/meeting_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::base::host {

using base::text;

namespace {

[[noreturn]] void fail(const std::string& what, int code, const std::string& advice) {
  base::throw_system_error(code, what, ": ", std::strerror(code), advice);
}

struct flock make_lock(short kind, LockRange range) {
  struct flock lock{};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(range.first);
  lock.l_len = static_cast<off_t>(range.length);
  return lock;
}

}  // namespace

std::string meeting_folder() {
  const char* path_from_environment = std::getenv("PLAIT_MEET");
  const bool is_default = path_from_environment == nullptr || *path_from_environment == '\0';
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder = !is_default                             ? std::string(path_from_environment)
                             : runtime != nullptr && *runtime == '/' ? text(runtime, "/plait")
                                                                     : text("/tmp/plait-", ::getuid());
  const auto advice = [&](const char* what) {
    return text("; ", what, ", or name another folder that both programs see by PLAIT_MEET");
  };
  if (is_default && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    fail(text("cannot make the folder ", folder, " in which programs meet"), errno, advice("make it"));
  struct stat status{};
  // In /tmp, any user may have created a link under this predictable name. A folder that the user names may be a link.
  if ((is_default ? ::lstat : ::stat)(folder.c_str(), &status) != 0)
    fail(text("the folder ", folder, " in which programs are to meet"), errno, advice("make it"));
  if (S_ISLNK(status.st_mode))
    fail(text("the folder ", folder, " in which programs are to meet is a symbolic link"), ELOOP, advice("remove it"));
  if (!S_ISDIR(status.st_mode))
    fail(text("the folder ", folder, " in which programs are to meet"), ENOTDIR, advice("make it"));
  if (status.st_uid != ::getuid())
    fail(text("the folder ", folder, " in which programs meet belongs to another user"), EPERM, advice("use your own"));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    fail(text("the folder ", folder, " in which programs meet can be seen by other users"), EPERM,
         advice(text("say chmod 700 ", folder).c_str()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    fail(text("cannot write to the folder ", folder, " in which programs meet"), errno, advice("permit it"));
  return folder;
}

bool is_locked(int file, LockRange range) {
  struct flock lock = make_lock(F_WRLCK, range);
  if (::fcntl(file, F_OFD_GETLK, &lock) != 0)
    fail("cannot see who has locked a file in the folder in which programs meet", errno,
         "; name a folder on a file system that has locks by PLAIT_MEET");
  return lock.l_type != F_UNLCK;
}

int find_locking_process(int file, LockRange range) {
  struct flock lock = make_lock(F_WRLCK, range);
  return ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0 ? lock.l_pid : 0;
}

bool take_lock(int file, LockRange range) {
  struct flock lock = make_lock(F_WRLCK, range);
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

void release_lock(int file, LockRange range) {
  struct flock lock = make_lock(F_UNLCK, range);
  ::fcntl(file, F_OFD_SETLK, &lock);
}

bool leads_to(const std::string& path, int file) {
  struct stat path_status{};
  struct stat file_status{};
  return ::stat(path.c_str(), &path_status) == 0 && ::fstat(file, &file_status) == 0 &&
         path_status.st_dev == file_status.st_dev && path_status.st_ino == file_status.st_ino;
}

}  // namespace plait::base::host
