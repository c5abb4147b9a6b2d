// A cache in files.
//
// Each entry is a file `FOLDER/ab/abcd...`, whose name is the hash of its key. It is written under a temporary name and
// renamed, so other processes see the whole entry or none. Its header has the number of bytes and a checksum, because a
// power failure may truncate a file or fill it with zeros. A damaged file is removed and counts as missing.
//
// The least recently used entry is removed first. Each use sets the modification time of the file. Another process may
// remove a file that this one reads, because an open file stays readable. A process adds up the sizes of all files when
// it stores its first entry, when the last sum and its own entries exceed the limit, and when it has added a sixteenth
// of the limit. A file lock ensures that one process at a time removes files.
// Example: the limit is 1 GB and the files have 950 MB. A process adds 60 MB. After 50 MB the total exceeds 1 GB, and
// the process removes the least recently used files until 875 MB remain.
//
// Only files with the names of entries are counted and removed: 48 hexadecimal digits, in the folder named by the first
// two. A user who can replace a file can replace what programs read. Therefore the folder must belong to the current
// user and be writable by no one else, and files that are links or belong to another user are not opened.

#include "store/cache/cache_folder.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/errors.hpp"
#include "base/files/folder.hpp"
#include "base/files/write_all.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "codec/crc32c.hpp"

namespace plait::store::cache {

namespace {

using base::Descriptor;
using base::text;

/// Name of the folder of unfinished entries, which are being written under temporary names.
constexpr const char* kUnfinished = "unfinished";
/// Age in seconds from which an unfinished entry is assumed to be that of a killed process.
constexpr std::time_t kMaxUnfinishedSeconds = 3600;
/// Number of hexadecimal digits in the name of an entry.
constexpr std::size_t kNameDigits = 48;
/// Time for which no entries are stored after a failure, such as a full disk.
constexpr std::chrono::seconds kPauseAfterFailure{10};

/// The beginning of each file.
struct Header {
  std::array<char, 8> signature{'P', 'L', 'A', 'I', 'T', 'C', '1', '\n'};
  std::int64_t bytes = 0;
  std::uint32_t content_sum = 0;
  std::uint32_t name_sum = 0;  ///< checksum of the entry's name, so that a renamed file counts as damaged
  bool operator==(const Header&) const = default;
};
static_assert(sizeof(Header) == 24);
constexpr auto kHeaderBytes = static_cast<std::int64_t>(sizeof(Header));

Header make_header(const std::string& entry, std::span<const std::byte> bytes) {
  Header header;
  header.bytes = std::ssize(bytes);
  header.content_sum = codec::compute_crc32c(bytes);
  header.name_sum = codec::compute_crc32c(std::as_bytes(std::span(entry)));
  return header;
}

/// Reads the header of a file, and bytes after it to fill `into`. Returns false if the file is shorter or unreadable.
bool read_file(int file, Header& header, std::span<std::byte> into) {
  iovec parts[] = {{&header, sizeof header}, {into.data(), into.size()}};
  const auto all = static_cast<ssize_t>(sizeof header + into.size());
  ssize_t count = 0;
  do count = ::preadv(file, parts, 2, 0);
  while (count < 0 && errno == EINTR);
  return count == all;
}

/// A file of an entry.
struct EntryFile {
  std::string path;
  std::int64_t bytes = 0;
  timespec used{};
};

bool is_older(const EntryFile& a, const EntryFile& b) {
  return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
}

bool has_hex_digits(std::string_view name, std::size_t count) {
  return name.size() == count && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Appends to `files` those files of a folder whose names are names of entries and begin with `begin`.
void collect_entries(const std::string& folder, std::string_view begin, std::vector<EntryFile>& files) {
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
  std::error_code ignored;
  for (const std::string& name : base::names_in(folder, ignored)) {
    if (!has_hex_digits(name, kNameDigits) || !name.starts_with(begin)) continue;
    EntryFile file{text(folder, '/', name), 0, {}};
    if (::lstat(file.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    // Some file systems allocate a file only a while after it was written.
    constexpr std::int64_t kStatBlockBytes = 512;
    file.bytes = std::max<std::int64_t>(status.st_size, status.st_blocks * kStatBlockBytes);
    file.used = status.st_mtim;
    files.push_back(std::move(file));
  }
}

/// Removes the unfinished entries of killed processes. Returns the number of bytes of the other unfinished entries.
std::int64_t remove_unfinished(const std::string& folder) {
  std::vector<EntryFile> files;
  collect_entries(folder, {}, files);
  const std::time_t now = std::time(nullptr);
  std::int64_t remaining_bytes = 0;
  for (const EntryFile& file : files)
    if (file.used.tv_sec >= now - kMaxUnfinishedSeconds || ::unlink(file.path.c_str()) != 0)
      remaining_bytes += file.bytes;
  return remaining_bytes;
}

/// The caches that this process uses, by folder and maximum size.
struct OpenFolders {
  std::mutex mutex;
  std::map<std::pair<std::string, std::int64_t>, std::shared_ptr<Folder>> folders;
};

bool is_full(int code) { return code == ENOSPC || code == EDQUOT; }

/// Makes a folder that other users cannot read, because it has bytes that perhaps only this user may read from servers.
/// Returns an errno, 0 for success.
/// errors  kSystem: the folder exists, and other users may change it.
int make_private(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return errno;
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) return errno;
  const char* why = nullptr;
  if (!S_ISDIR(status.st_mode))
    why = "is no folder, or is a link to one";
  else if (status.st_uid != ::geteuid())
    why = "belongs to another user";
  else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    why = "can be changed by other users";
  if (why != nullptr)
    base::throw_system_error(EPERM, "cannot use the cache ", folder, ": it ", why,
                             ", but must be a folder that only this user can change; give one of your own, such as "
                             "/var/tmp/$USER/plait");
  return 0;
}

/// Makes the folder of a cache and its subfolder of unfinished entries. Returns an errno, 0 for success.
/// errors  Those of make_private().
int make_folders(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  if (error) return error.value();
  if (const int code = make_private(folder); code != 0) return code;
  if (const int code = make_private(text(folder, '/', kUnfinished)); code != 0) return code;
  return ::access(text(folder, '/', kUnfinished).c_str(), W_OK | X_OK) != 0 ? errno : 0;
}

}  // namespace

std::string entry_name(const std::string& key) {
  std::array<unsigned char, kNameDigits / 2> hash{};
  ::crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                       nullptr, 0);
  std::array<char, 2 * hash.size() + 1> digits{};
  return ::sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
}

std::shared_ptr<Folder> Folder::open(const Options& options) {
  static base::PerProcess<OpenFolders> open_folders;
  OpenFolders& open = open_folders.get();
  const std::scoped_lock lock(open.mutex);
  std::shared_ptr<Folder>& folder = open.folders[{options.folder, options.max_bytes}];
  const int code = make_folders(options.folder);
  if (is_full(code)) return nullptr;
  if (code != 0)
    base::throw_system_error(code, "cannot use the cache ", options.folder, ": ", std::strerror(code),
                             "; give a folder that this user can write, or leave out the cache");
  if (!folder) folder = std::make_shared<Folder>(options);
  return folder;
}

std::string Folder::entry_path(const std::string& entry) const {
  return text(options_.folder, '/', std::string_view(entry).substr(0, 2), '/', entry);
}

bool Folder::load(const std::string& entry, std::span<std::byte> into) {
  const std::string name = entry_path(entry);
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid())
    return false;
  Header header;
  if (status.st_size == kHeaderBytes + std::ssize(into) && read_file(file.number(), header, into) &&
      header == make_header(entry, into)) {
    (void)::futimens(file.number(), nullptr);  // sets the time of the last use
    return true;
  }
  (void)::unlink(name.c_str());
  return false;
}

bool Folder::contains(const std::string& entry) const { return ::access(entry_path(entry).c_str(), R_OK) == 0; }

std::optional<std::string> Folder::load_text(const std::string& entry) {
  struct stat status{};
  if (::lstat(entry_path(entry).c_str(), &status) != 0) return std::nullopt;
  const std::int64_t bytes = std::clamp<std::int64_t>(status.st_size - kHeaderBytes, 0, kMaxTextBytes);
  std::string content(static_cast<std::size_t>(bytes), '\0');
  if (!load(entry, std::as_writable_bytes(std::span(content)))) return std::nullopt;
  return content;
}

int Folder::write_file(const std::string& entry, std::span<const std::byte> bytes) const {
  std::array<unsigned char, 16> random{};
  ::randombytes_buf(random.data(), random.size());
  const std::string unfinished =
      text(options_.folder, '/', kUnfinished, '/', entry_name({random.begin(), random.end()}));
  const Header header = make_header(entry, bytes);
  int code = 0;
  {
    const Descriptor file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.number() < 0) return errno;
    code = base::write_all(file.number(), std::as_bytes(std::span(&header, 1)), 0);
    if (code == 0) code = base::write_all(file.number(), bytes, kHeaderBytes);
  }
  const std::string name = entry_path(entry);
  if (code == 0 && ::rename(unfinished.c_str(), name.c_str()) != 0) {
    const std::string folder = name.substr(0, name.rfind('/'));
    const bool has_folder = errno == ENOENT && (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST);
    code = has_folder && ::rename(unfinished.c_str(), name.c_str()) == 0 ? 0 : errno;
  }
  if (code != 0) ::unlink(unfinished.c_str());
  return code;
}

void Folder::store(const std::string& entry, std::span<const std::byte> bytes) noexcept {
  if (std::ssize(bytes) > std::min(kMaxEntryBytes, options_.max_bytes / 2)) return;
  if (Clock::now().time_since_epoch().count() < paused_until_.load(std::memory_order_relaxed)) return;
  try {
    constexpr std::int64_t kFileBlock = 4096;  // usual allocation unit of file systems
    if (write_file(entry, bytes) == 0)
      return add_to_total((std::ssize(bytes) + kHeaderBytes + kFileBlock - 1) / kFileBlock * kFileBlock);
  } catch (const std::exception&) {  // without memory there is no entry
  }
  paused_until_.store((Clock::now() + kPauseAfterFailure).time_since_epoch().count(), std::memory_order_relaxed);
}

void Folder::add_to_total(std::int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  added_bytes_ += bytes;
  if (counted_bytes_ < 0 || counted_bytes_ + added_bytes_ > options_.max_bytes ||
      added_bytes_ > options_.max_bytes / 16)
    evict();
}

void Folder::evict() {
  const Descriptor lock(
      ::open(text(options_.folder, "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  // If the lock is taken, another process is counting and removing files. On a file system without locks two processes
  // may do so at once; files that the other one has removed count as removed below (ENOENT).
  if (lock.number() < 0 || (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)) return;
  counted_bytes_ = remove_unfinished(text(options_.folder, '/', kUnfinished));
  std::vector<EntryFile> files;
  std::error_code ignored;
  for (const std::string& name : base::names_in(options_.folder, ignored))
    if (has_hex_digits(name, 2)) collect_entries(text(options_.folder, '/', name), name, files);
  added_bytes_ = 0;
  for (const EntryFile& file : files) counted_bytes_ += file.bytes;
  if (counted_bytes_ <= options_.max_bytes) return;
  std::ranges::sort(files, is_older);
  for (const EntryFile& file : files) {
    if (counted_bytes_ <= options_.max_bytes / 8 * 7) break;  // leave space, so that eviction is rare
    if (::unlink(file.path.c_str()) == 0 || errno == ENOENT) counted_bytes_ -= file.bytes;
  }
}

}  // namespace plait::store::cache
