#include "store/posix/replacement.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/recorder.hpp"
#include "base/text.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::store::posix {

namespace fs = std::filesystem;

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// `.field.npy.plait-HOST-`, in front of process and counter.
std::string temporary_prefix(const fs::path& target) {
  return base::text('.', target.filename().string(), ".plait-", host_name(), '-');
}

/// Removes what processes that are gone left behind.  A name that is not ours, or whose process may live, stays.
void remove_stale(const fs::path& target, const fs::path& folder, const std::string& prefix,
                  const Replacement::Marks& marks) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    int process = 0;
    const char* last = name.data() + name.size();
    const auto [end, error] = std::from_chars(name.data() + prefix.size(), last, process);
    if (error != std::errc() || end == last || *end != '-' || process <= 0) continue;
    // Our own number may have been that of a process before us, as in containers: then the lock alone tells.
    if (process != ::getpid() && (::kill(process, 0) == 0 || errno != ESRCH)) continue;
    // The number may belong to a living process of another name space: that one holds the lock.
    const Descriptor file(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.number() < 0 || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;
    if (marks.on_left_behind && !marks.on_left_behind(entry.path().string(), target.string())) continue;
    fs::remove(entry.path(), ignored);
  }
}

void sync_path(const std::string& path, int flags) {
  const Descriptor file = open_file(path, flags);
  const base::Reaching reaching(PLAIT_EVENT_SYNC);
  const int result = ::fsync(file.number());
  if (reaching.kept()) reaching.end(base::recorded_name(path), -1, 0, result < 0 ? -errno : 0);
  if (result != 0 && errno != EINVAL) throw system_error(base::text("sync ", path), errno);
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

void sync_folder(const std::string& folder) { sync_path(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY); }

Replacement::Replacement(const std::string& path, std::int64_t bytes, std::span<const std::byte> head,
                         const Marks& marks)
    : path_(path) {
  static std::atomic<int> counter{0};
  std::error_code missing;
  target_ = follow_links(path);
  const fs::path target(target_);
  if (fs::is_directory(target, missing)) throw system_error(base::text("write ", path), EISDIR);
  struct stat old{};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode))
    throw Error(ErrorKind::kSystem,
                base::text("cannot write ", path, ": it is not a regular file, and only those can be replaced"),
                EINVAL);
  if (exists && ::access(target_.c_str(), W_OK) != 0) throw system_error(base::text("replace ", path), errno);

  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const std::string prefix = temporary_prefix(target);
  remove_stale(target, folder, prefix, marks);
  std::optional<Descriptor> made_file;
  while (!made_file) {
    temporary_ = (folder / base::text(prefix, ::getpid(), '-', counter++, marks.suffix)).string();
    made_file = make_locked(temporary_, path);
  }
  file_ = std::move(*made_file);
  open_ = true;
  try {
    if (exists) ::fchmod(file_.number(), old.st_mode & 07777);
    struct stat made{};
    if (::fstat(file_.number(), &made) != 0) throw system_error(base::text("look at ", path), errno);
    permissions_ = made.st_mode & 07777;
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
    const base::Reaching reaching(PLAIT_EVENT_WRITE);
    const ssize_t put = ::pwrite(file_.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (reaching.kept())
      reaching.end(base::recorded_name(temporary_), static_cast<std::int64_t>(done),
                   static_cast<std::int64_t>(bytes.size() - done), put < 0 ? -errno : put);
    if (put < 0 && errno != EINTR) throw system_error(base::text("write ", path_), errno);
    if (put > 0) done += static_cast<std::size_t>(put);
  }
}

void Replacement::commit() {
  owner_.check(path_);
  sync_path(temporary_, O_RDONLY);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw system_error(base::text("rename to ", target_), errno);
  open_ = false;
  file_.close();
  sync_folder(fs::path(target_).parent_path().string());
}

void Replacement::discard() noexcept {
  if (open_ && owner_.here()) ::unlink(temporary_.c_str());
  open_ = false;
  file_.close();
}

}  // namespace plait::store::posix
