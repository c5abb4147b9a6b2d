#include "store/posix/replacement.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/files/folder.hpp"
#include "base/recorder.hpp"
#include "base/text.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/writer.hpp"

namespace plait::store::posix {

namespace fs = std::filesystem;

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// The longest name that the folder takes.
std::size_t most_name_bytes(const fs::path& folder) {
  const long most = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  return most > 0 ? static_cast<std::size_t>(most) : NAME_MAX;
}

/// A name that leaves room for `more` bytes behind it: cut, and told from others with that beginning by a sum.
std::string shortened(const std::string& name, std::size_t more, std::size_t most) {
  if (name.size() + more <= most) return name;
  std::uint64_t sum = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : name) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  const std::string digits = base::text('~', base::hexadecimal_text(sum));
  std::size_t length = most - std::min(most, more + digits.size());
  // Not within a character of UTF-8, which some file systems refuse.
  while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0U) == 0x80U) --length;
  return name.substr(0, length) + digits;
}

/// `.field.npy.plait-HOST-`, in front of process, counter and suffixes.
std::string temporary_prefix(const fs::path& target, const fs::path& folder) {
  constexpr std::size_t kBehind = 44;
  const std::string mark = base::text(".plait-", host_name(), '-');
  const std::string name = target.filename().string();
  return base::text('.', shortened(name, 1 + mark.size() + kBehind, most_name_bytes(folder)), mark);
}

/// Removes what processes that are gone left behind.  A name that is not ours, or whose process may live, stays.
void remove_stale(const fs::path& target, const fs::path& folder, const std::string& prefix,
                  const Replacement::Marks& marks) {
  std::error_code ignored;
  for (const std::string& name : base::names_in(folder.string(), ignored)) {
    if (!name.starts_with(prefix)) continue;
    int process = 0;
    const char* last = name.data() + name.size();
    const auto [end, error] = std::from_chars(name.data() + prefix.size(), last, process);
    if (error != std::errc() || end == last || *end != '-' || process <= 0) continue;
    // Our own number may have been that of a process before us, as in containers: then the lock alone tells.
    if (process != ::getpid() && (::kill(process, 0) == 0 || errno != ESRCH)) continue;
    // The number may belong to a living process of another name space: that one holds the lock.
    const std::string path = (folder / name).string();
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.number() < 0 || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;
    if (marks.on_left_behind && !marks.on_left_behind(path, target.string())) continue;
    ::unlink(path.c_str());
  }
}

void sync_open(int file, const std::string& path) {
  const base::RecordedRequest reaching(PLAIT_EVENT_SYNC);
  const int result = ::fsync(file);
  if (reaching.kept()) reaching.end({base::recorded_name(path), -1, 0, result < 0 ? -errno : 0});
  if (result != 0 && errno != EINVAL) throw system_error(base::text("sync ", path), errno);
}

/// Gives a file another name unless that is taken: then false.
bool rename_to_free(const std::string& from, const std::string& to) {
  const auto taken = [&](int result) {
    if (result != 0 && errno != EEXIST) throw system_error("rename to " + to, errno);
    return result != 0;
  };
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return !taken(-1);
  // Not every file system knows that; a second name is as good, where there can be one.
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return true;
  }
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) return !taken(-1);
  if (::access(to.c_str(), F_OK) == 0) return false;
  return !taken(::rename(from.c_str(), to.c_str()));
}

/// In a folder like /tmp only the owners of a file and of the folder replace it: said before anything is written.
void check_sticky(const fs::path& folder, uid_t owner, const std::string& shown) {
  struct stat found{};
  if (::stat(folder.c_str(), &found) != 0 || (found.st_mode & S_ISVTX) == 0) return;
  const uid_t own = ::geteuid();
  if (own == 0 || own == owner || own == found.st_uid) return;
  throw Error(ErrorKind::kSystem,
              base::text("cannot replace ", shown, ": it belongs to another user, and the folder ", folder.string(),
                         " lets nobody else replace it (its sticky bit is set); choose another name or folder"),
              EPERM);
}

/// A new file under `path`, locked.  Nothing where the name is taken: one that could not be removed, or that another
/// process took for a stale one before it was locked.
std::optional<Descriptor> make_locked(const std::string& path, const std::string& shown) {
  Descriptor file;
  try {
    file = open_file(path, O_RDWR | O_CREAT | O_EXCL, 0666, shown);
  } catch (const Error& error) {
    if (error.system_code() != EEXIST) throw;
    return std::nullopt;
  }
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
  struct stat status{};
  if (::fstat(file.number(), &status) == 0 && status.st_nlink == 0) return std::nullopt;
  return file;
}

}  // namespace

std::string follow_links(const std::string& name) {
  std::error_code error;
  fs::path path = fs::absolute(name);
  const fs::path followed = fs::canonical(path, error);
  if (!error) return followed.string();
  for (int links = 0; fs::is_symlink(path, error); ++links) {
    constexpr int kMostLinks = 40;  // as Linux allows
    if (links == kMostLinks) throw system_error(base::text("follow the links of ", path.string()), ELOOP);
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path.string();
}

// glibc's posix_fallocate would write each block where the file system cannot reserve.
void reserve(int file, std::int64_t bytes, const std::string& shown) {
  if (bytes == 0) return;
  while (::fallocate(file, 0, 0, bytes) != 0) {
    if (errno == EINTR) continue;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
      throw system_error(base::text("reserve ", base::bytes_text(bytes), " for ", shown), errno);
    if (::ftruncate(file, bytes) != 0) throw system_error(base::text("size ", shown), errno);
    return;
  }
}

void sync_folder(const std::string& folder) {
  const std::string path = folder.empty() ? "." : folder;
  // Files may be made in folders that may not be listed.
  if (::access(path.c_str(), R_OK) != 0 && errno == EACCES) return ::sync();
  sync_open(open_file(path, O_RDONLY | O_DIRECTORY).number(), path);
}

Replacement::Replacement(const std::string& path, std::int64_t bytes, std::span<const std::byte> head,
                         const Marks& marks)
    : path_(path) {
  static std::atomic<int> counter{0};
  std::error_code missing;
  target_ = follow_links(path);
  const fs::path target(target_);
  if (fs::is_directory(target, missing)) throw system_error(base::text("write ", path), EISDIR);
  struct stat old{};
  existed_ = ::stat(target_.c_str(), &old) == 0;
  // The temporary name is cut, this one is not.
  if (!existed_ && errno == ENAMETOOLONG) throw system_error(base::text("write ", path), errno);
  if (existed_ && !S_ISREG(old.st_mode))
    throw Error(ErrorKind::kSystem,
                base::text("cannot write ", path, ": it is not a regular file, and only those can be replaced"),
                EINVAL);
  if (existed_ && ::access(target_.c_str(), W_OK) != 0) throw system_error(base::text("replace ", path), errno);
  if (existed_) attributes_ = Attributes::of_old(target_, path);

  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (existed_) check_sticky(folder, old.st_uid, path);
  const std::string prefix = temporary_prefix(target, folder);
  remove_stale(target, folder, prefix, marks);
  std::optional<Descriptor> made_file;
  while (!made_file) {
    temporary_ = (folder / base::text(prefix, ::getpid(), '-', counter++, marks.suffix)).string();
    made_file = make_locked(temporary_, path);
  }
  file_ = std::move(*made_file);
  open_ = true;
  try {
    if (!existed_) attributes_ = Attributes::of_new(file_.number(), path);
    attributes_.apply(file_.number(), path);
    if (marks.claimed)
      claim(file_.number(), temporary_, prefix.substr(0, prefix.size() - host_name().size() - 1), target_, path);
    reserve(file_.number(), bytes, path);
    write_head(head);
  } catch (...) {
    discard();
    throw;
  }
}

Replacement::~Replacement() { discard(); }

void Replacement::resize(std::int64_t bytes) {
  // Also makes the file shorter, which reserving does not.
  if (::ftruncate(file_.number(), bytes) != 0) throw system_error(base::text("size ", path_), errno);
  reserve(file_.number(), bytes, path_);
}

void Replacement::write_head(std::span<const std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const base::RecordedRequest reaching(PLAIT_EVENT_WRITE);
    const ssize_t put = ::pwrite(file_.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (reaching.kept())
      reaching.end({base::recorded_name(temporary_), static_cast<std::int64_t>(done),
                    static_cast<std::int64_t>(bytes.size() - done), put < 0 ? -errno : put});
    if (put < 0 && errno != EINTR) throw system_error(base::text("write ", path_), errno);
    if (put > 0) done += static_cast<std::size_t>(put);
  }
}

void Replacement::commit() {
  owner_.check(path_);
  attributes_.finish(file_.number(), path_);
  sync_open(file_.number(), temporary_);
  if (existed_) {
    // A folder may have taken the name meanwhile, or its owner the permission.
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) keep_beside("the existing file cannot be replaced", errno);
  } else if (!rename_to_free(temporary_, target_)) {
    keep_beside("a file of that name has appeared since it was opened", EEXIST);
  }
  open_ = false;
  in_position_ = true;
  file_.close();
  sync_folder(fs::path(target_).parent_path().string());
}

/// Both are whole, and neither is this program's to remove.
void Replacement::keep_beside(const char* why, int code) {
  const fs::path target(target_);
  const std::string name = shortened(target.filename().string(), 24, most_name_bytes(target.parent_path()));
  std::string kept;
  for (int number = 1;; ++number) {
    kept = (target.parent_path() / base::text(name, ".kept-", number)).string();
    if (rename_to_free(temporary_, kept)) break;
  }
  open_ = false;
  file_.close();
  sync_folder(target.parent_path().string());
  throw Error(
      ErrorKind::kSystem,
      base::text("cannot finish ", path_, ": ", why, code == EEXIST ? "" : base::text(" (", std::strerror(code), ')'),
                 "; that file is unchanged, and the new data is in ", kept, "; keep the one that you want"),
      code);
}

void Replacement::discard() noexcept {
  if (open_ && owner_.here()) ::unlink(temporary_.c_str());
  open_ = false;
  file_.close();
}

}  // namespace plait::store::posix
