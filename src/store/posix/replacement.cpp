// Replacing a file as a whole.
//
// The order of operations makes every moment safe:
//    1. make the temporary file and lock it       its name states host and process, so that others can see if it ended
//    2. write it, set its final permissions       readers see the old file
//    3. sync it                                   otherwise a power failure after step 4 could lose its bytes
//    4. rename it to the final name               readers see the new file from here on
//    5. sync the folder                           the rename survives a power failure
// Between making the file and locking it, another process may take it for the file of an ended process and remove it.
// make_locked() therefore checks that the file still has a name, and otherwise the caller tries another name.

#include "store/posix/replacement.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/recorder.hpp"
#include "base/text.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/temporary.hpp"
#include "store/posix/writer.hpp"

namespace plait::store::posix {

namespace fs = std::filesystem;

namespace {

/// Makes a new, locked file under `path`. Returns nothing if the name is taken by a file that could not be removed, or
/// if another process has removed the file before it was locked.
std::optional<Descriptor> make_locked(const std::string& path, const std::string& display_name) {
  Descriptor file;
  try {
    file = open_file(path, O_RDWR | O_CREAT | O_EXCL, 0666, display_name);
  } catch (const Error& error) {
    if (error.system_code() != EEXIST) throw;
    return std::nullopt;
  }
  if (!lock_at_once(file.number(), display_name)) return std::nullopt;
  struct stat status{};
  if (::fstat(file.number(), &status) == 0 && status.st_nlink == 0) return std::nullopt;
  return file;
}

/// Returns true if an open file begins with the bytes `head`; false if it cannot be read.
bool begins_with(int file, std::span<const std::byte> head) {
  std::vector<std::byte> beginning(head.size());
  for (std::size_t done = 0; done < beginning.size();) {
    const ssize_t count = ::pread(file, beginning.data() + done, beginning.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return std::ranges::equal(beginning, head);
}

fs::path parent_folder(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

}  // namespace

std::string follow_links(const std::string& name) {
  std::error_code error;
  fs::path path = fs::absolute(name);
  const fs::path followed = fs::canonical(path, error);
  if (!error) return followed.string();
  for (int links = 0; fs::is_symlink(path, error); ++links) {
    constexpr int kMaxLinks = 40;  // the limit of Linux
    if (links == kMaxLinks) throw system_error(base::text("follow the links of ", path.string()), ELOOP);
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path.string();
}

// glibc's posix_fallocate would write each block if the file system cannot reserve space.
void reserve(int file, std::int64_t bytes, const std::string& display_name) {
  if (bytes == 0) return;
  while (::fallocate(file, 0, 0, bytes) != 0) {
    if (errno == EINTR) continue;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
      throw system_error(base::text("reserve ", base::bytes_text(bytes), " for ", display_name), errno);
    if (::ftruncate(file, bytes) != 0) throw system_error(base::text("size ", display_name), errno);
    return;
  }
}

void sync_open(int file, const std::string& display_name) {
  const base::RecordedRequest event(PLAIT_EVENT_SYNC);
  const int result = ::fsync(file);
  if (event.is_recorded()) event.end({base::recorded_name(display_name), -1, 0, result < 0 ? -errno : 0});
  if (result != 0 && errno != EINVAL) throw system_error(base::text("sync ", display_name), errno);
}

void sync_folder(const std::string& folder) {
  const std::string path = folder.empty() ? "." : folder;
  // A folder that permits new files but no listing cannot be opened: sync everything instead.
  if (::access(path.c_str(), R_OK) != 0 && errno == EACCES) return ::sync();
  sync_open(open_file(path, O_RDONLY | O_DIRECTORY).number(), path);
}

Replacement::Replacement(const std::string& path, std::int64_t bytes, std::span<const std::byte> head,
                         const ReplacementOptions& options)
    : path_(path) {
  target_ = follow_links(path);
  const fs::path target(target_);
  struct stat old{};
  existed_ = ::stat(target_.c_str(), &old) == 0;
  if (existed_ && S_ISDIR(old.st_mode)) throw system_error(base::text("write ", path), EISDIR);
  // The temporary name is shortened, but the final name is not.
  if (!existed_ && errno == ENAMETOOLONG) throw system_error(base::text("write ", path), errno);
  if (existed_ && !S_ISREG(old.st_mode))
    base::throw_system_error(EINVAL, "cannot write ", path,
                             ": it is not a regular file, and only those can be replaced");
  if (existed_ && ::access(target_.c_str(), W_OK) != 0) throw system_error(base::text("replace ", path), errno);
  if (existed_) attributes_ = Attributes::read_replaced(target_, old, path);

  const fs::path folder = parent_folder(target_);
  if (existed_) check_sticky(folder, old.st_uid, path);
  const std::string prefix = temporary_prefix(target, folder);
  remove_stale(folder, prefix, [&](const std::string& leftover) {
    if (options.on_leftover && !options.on_leftover(leftover, target.string())) return;
    ::unlink(leftover.c_str());
  });
  durable_ = options.durable;
  keeps_unfinished_ = options.keeps_unfinished;
  if (keeps_unfinished_)
    open_unfinished(bytes, head, options);
  else
    make(prefix, options);
  is_pending_ = true;
  try {
    if (!existed_) attributes_ = Attributes::read_created(file_.number(), path);
    attributes_.apply(file_.number(), path);
    if (options.claimed) claim(file_.number(), temporary_, without_host(prefix), target_, path);
    reserve(file_.number(), std::max<std::int64_t>(bytes, 0), path);
    write_head(head);
  } catch (...) {
    discard();
    throw;
  }
}

Replacement::~Replacement() { discard(); }

void Replacement::make(const std::string& prefix, const ReplacementOptions& options) {
  static std::atomic<int> counter{0};
  const fs::path folder = parent_folder(target_);
  std::optional<Descriptor> made_file;
  while (!made_file) {
    temporary_ = (folder / base::text(prefix, ::getpid(), '-', counter++, options.suffix)).string();
    made_file = make_locked(temporary_, path_);
  }
  file_ = std::move(*made_file);
}

void Replacement::open_unfinished(std::int64_t bytes, std::span<const std::byte> head,
                                  const ReplacementOptions& options) {
  const fs::path folder = parent_folder(target_);
  temporary_ = (folder / (unfinished_name(target_, folder) + options.suffix)).string();
  bool existed = false;
  file_ = lock_unfinished(temporary_, /*is_folder=*/false, path_, existed);
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) throw system_error(base::text("write ", path_), errno);
  const bool has_expected_size = bytes < 0 || status.st_size == bytes;
  continued_ = existed && options.continues && has_expected_size && begins_with(file_.number(), head);
  if (existed && !continued_ && options.on_leftover) options.on_leftover(temporary_, target_);
  if (!continued_ && ::ftruncate(file_.number(), 0) != 0) throw system_error(base::text("size ", path_), errno);
}

void Replacement::resize(std::int64_t bytes) {
  // ftruncate also makes the file shorter, which reserve() does not.
  if (::ftruncate(file_.number(), bytes) != 0) throw system_error(base::text("size ", path_), errno);
  reserve(file_.number(), bytes, path_);
}

void Replacement::write_head(std::span<const std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const base::RecordedRequest event(PLAIT_EVENT_WRITE);
    const ssize_t count = ::pwrite(file_.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (event.is_recorded())
      event.end({base::recorded_name(temporary_), static_cast<std::int64_t>(done),
                 static_cast<std::int64_t>(bytes.size() - done), count < 0 ? -errno : count});
    if (count < 0 && errno != EINTR) throw system_error(base::text("write ", path_), errno);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

void Replacement::commit() {
  owner_.check(path_);
  attributes_.finish(file_.number(), path_);
  if (durable_) sync_open(file_.number(), temporary_);
  if (existed_) {
    // rename() fails if a folder has got the name meanwhile, or if the owner has withdrawn the permission.
    if (::rename(temporary_.c_str(), target_.c_str()) != 0)
      save_as_sibling("the existing file cannot be replaced", errno);
  } else if (!rename_to_free(temporary_, target_)) {
    save_as_sibling("a file of that name has appeared since it was opened", EEXIST);
  }
  is_pending_ = false;
  in_position_ = true;
  file_.close();
  if (durable_) sync_folder(fs::path(target_).parent_path().string());
}

// Both files are complete, and neither must be lost: the new file gets another name.
void Replacement::save_as_sibling(const char* why, int code) {
  const fs::path target(target_);
  constexpr std::size_t kSuffixBytes = 24;  // `.kept-` and a number
  const std::string name = shorten_name(target.filename().string(), kSuffixBytes, max_name_bytes(target.parent_path()));
  std::string sibling;
  for (int number = 1;; ++number) {
    sibling = (target.parent_path() / base::text(name, ".kept-", number)).string();
    if (rename_to_free(temporary_, sibling)) break;
  }
  is_pending_ = false;
  file_.close();
  sync_folder(target.parent_path().string());
  base::throw_system_error(
      code, "cannot finish ", path_, ": ", why, code == EEXIST ? "" : base::text(" (", std::strerror(code), ')'),
      "; that file is unchanged, and the new data is in ", sibling, "; keep the one that you want");
}

void Replacement::discard() noexcept {
  if (is_pending_ && !keeps_unfinished_ && owner_.here()) ::unlink(temporary_.c_str());
  is_pending_ = false;
  file_.close();
}

}  // namespace plait::store::posix
