// A redo journal for changes of metadata in place.
//
// Problem: one change of attributes alters bytes at several offsets. No sequence of writes makes all of them visible at
// the same time, and a kill between two writes leaves a file that the HDF5 library may be unable to read.
//
// Idea: the order of operations makes every moment recoverable.
//    1. create the journal, and lock it       a reader that finds it waits for the lock
//    2. write it, sync it, sync its folder    until here the file has its old bytes; an incomplete journal is removed
//    3. write the changed bytes, sync         a kill leaves old and new bytes: the next reader writes all new ones
//    4. remove the journal                    a kill before this leaves it: the next reader removes it
//
// Example: 3 bytes at offset 2,048 change in a file of 10,000 bytes. The journal has a header of 56 bytes (magic, size,
// inode number, birth time, old and new size of the file, checksum), then 2,048 and 3, the 3 old bytes and the 3 new
// ones: 56 + 16 + 6 = 78 bytes. A reader compares the bytes of the file with both. If any are old, it applies the
// journal. If a byte is neither the old nor the new one, another program has changed the file since, and the journal is
// only removed. The inode and the birth time prevent a journal from being applied to a file that has replaced the old
// one.

#include "container/hdf5/changing/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/files/allot.hpp"
#include "base/files/write_all.hpp"
#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "base/wait/lock_wait.hpp"
#include "codec/crc32c.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/identity.hpp"
#include "store/posix/replacement.hpp"
#include "store/posix/temporary.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;
using store::posix::Descriptor;
using store::posix::system_error;

constexpr std::uint64_t kMagic = 0x314c4e52544c50;  // "PLTRNL1"

/// The first bytes of a journal, in the byte order of the processor.
struct Header {
  std::uint64_t magic = kMagic;
  std::int64_t bytes = 0;  ///< bytes after the header
  std::uint64_t inode = 0;
  std::int64_t born = 0;  ///< birth time of the file
  std::int64_t old_size = 0;
  std::int64_t new_size = 0;
  std::uint64_t checksum = 0;  ///< of the header, with 0 here, and of the bytes
};

std::uint64_t compute_checksum(Header header, std::span<const std::byte> bytes) {
  header.checksum = 0;
  const std::uint64_t header_crc = codec::compute_crc32c(std::as_bytes(std::span(&header, 1)));
  return header_crc << 32U | codec::compute_crc32c(bytes);
}

/// Appends the bytes of values.
template <typename T>
void append(std::vector<std::byte>& to, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void write_bytes(int file, std::span<const std::byte> bytes, std::int64_t offset, const std::string& display_name) {
  if (const int code = base::write_all(file, bytes, offset); code != 0)
    throw system_error(text("write ", display_name), code);
}

/// Reads `bytes` bytes, or fewer if the file ends earlier.
std::vector<std::byte> read_up_to(int file, std::size_t bytes, std::int64_t offset, const std::string& display_name) {
  std::vector<std::byte> result(bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t count = ::pread(file, result.data() + done, bytes - done, offset + static_cast<std::int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error(text("read ", display_name), errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  result.resize(done);
  return result;
}

std::int64_t file_size(int file, const std::string& display_name) {
  struct stat info{};
  if (::fstat(file, &info) != 0) throw system_error(text("inspect ", display_name), errno);
  return info.st_size;
}

/// Returns the content of the journal.
std::vector<std::byte> encode(int file, const std::string& path, const FilePatch& changes) {
  std::vector<std::byte> bytes;
  for (const ByteChange& change : changes.bytes) {
    const std::int64_t extent[2]{change.offset, static_cast<std::int64_t>(change.after.size())};
    append(bytes, std::span<const std::int64_t>(extent));
    append(bytes, std::span<const std::byte>(change.before));
    append(bytes, std::span<const std::byte>(change.after));
  }
  const store::Identity identity = store::posix::read_identity(file, path);
  Header header{kMagic,
                static_cast<std::int64_t>(bytes.size()),
                identity.number,
                identity.born,
                changes.old_size,
                changes.new_size,
                0};
  header.checksum = compute_checksum(header, bytes);
  std::vector<std::byte> content;
  append(content, std::span<const Header>(&header, 1));
  append(content, std::span<const std::byte>(bytes));
  return content;
}

/// Returns the changes in a journal; nothing if it is incomplete, or belongs to a file that has been replaced.
/// identity: that of the file.
std::optional<FilePatch> decode(std::span<const std::byte> content, const store::Identity& identity) {
  Header header;
  if (content.size() < sizeof header) return {};
  std::memcpy(&header, content.data(), sizeof header);
  std::span<const std::byte> bytes = content.subspan(sizeof header);
  if (header.magic != kMagic || header.bytes != static_cast<std::int64_t>(bytes.size()) ||
      header.checksum != compute_checksum(header, bytes) || header.inode != identity.number ||
      header.born != identity.born)
    return {};
  FilePatch changes{header.old_size, header.new_size, {}};
  while (!bytes.empty()) {
    std::int64_t extent[2]{};  // the offset and the length of a change
    if (bytes.size() < sizeof extent) return {};
    std::memcpy(extent, bytes.data(), sizeof extent);
    const std::int64_t offset = extent[0];
    const auto length = static_cast<std::size_t>(extent[1]);
    if (offset < 0 || length > (bytes.size() - sizeof extent) / 2) return {};
    const auto before = bytes.subspan(sizeof extent, length);
    const auto after = bytes.subspan(sizeof extent + length, length);
    changes.bytes.push_back({offset, {before.begin(), before.end()}, {after.begin(), after.end()}});
    bytes = bytes.subspan(sizeof extent + 2 * length);
  }
  return changes;
}

/// Writes the new bytes to the file. A kill at any moment leaves a file that determine_state() recognizes.
void apply(int file, const FilePatch& changes, const std::string& path) {
  if (changes.new_size > file_size(file, path) && ::ftruncate(file, changes.new_size) != 0)
    throw system_error(text("extend ", path), errno);
  for (const ByteChange& change : changes.bytes) write_bytes(file, change.after, change.offset, path);
  if (::ftruncate(file, changes.new_size) != 0) throw system_error(text("cut ", path), errno);
  store::posix::sync_open(file, path);
}

enum class State : std::uint8_t {
  kUnchanged,        ///< all bytes are old
  kChanged,          ///< all bytes are new
  kPartial,          ///< some bytes are old and some are new
  kOtherwiseChanged  ///< another program has changed the file since
};

/// Determines which of the changes a file has, by comparing its bytes with the old and the new ones.
State determine_state(int file, const FilePatch& changes, const std::string& path) {
  const std::int64_t size = file_size(file, path);
  if (size < std::min(changes.old_size, changes.new_size) || size > std::max(changes.old_size, changes.new_size))
    return State::kOtherwiseChanged;
  bool has_old = false;
  bool has_new = false;
  for (const ByteChange& change : changes.bytes) {
    std::vector<std::byte> present = read_up_to(file, change.after.size(), change.offset, path);
    present.resize(change.after.size());
    for (std::size_t i = 0; i < present.size(); ++i) {
      if (change.before[i] == change.after[i]) continue;
      if (present[i] != change.before[i] && present[i] != change.after[i]) return State::kOtherwiseChanged;
      (present[i] == change.before[i] ? has_old : has_new) = true;
    }
  }
  if (has_old && has_new) return State::kPartial;
  // A file with all new bytes may still be too long, if the program was killed before it cut the file. Readers do not
  // notice that.
  return has_old ? State::kUnchanged : State::kChanged;
}

/// Tries to lock the journal. Returns true if the caller need not try again: it has the lock, or the file system has no
/// locks.
bool try_lock(int journal, int operation) {
  return ::flock(journal, operation) == 0 || (errno != EINTR && errno != EWOULDBLOCK);
}

/// Waits for an exclusive lock of the journal.  errors  kSystem, EINTR: a signal ends the wait.
void lock(int journal) {
  if (base::can_be_interrupted()) return base::wait_for_lock([&] { return try_lock(journal, LOCK_EX | LOCK_NB); });
  while (!try_lock(journal, LOCK_EX)) {
  }
}

/// Creates a journal, and locks it. All users who may read the file may read the journal, too. Returns an invalid
/// descriptor if no file can be created in the folder.
Descriptor create_journal(int file, const std::string& name) {
  constexpr int kMaxTrials = 100;
  for (int i = 0; i < kMaxTrials; ++i) {
    Descriptor journal(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (journal.number() < 0) return {};
    // If the wait is interrupted, the program that holds the lock removes this journal, which is empty.
    lock(journal.number());
    struct stat info{};
    // Between open() and lock(), a program that opened the file may have removed the journal as incomplete: try again.
    if (::fstat(journal.number(), &info) != 0 || info.st_nlink == 0) continue;
    if (::fstat(file, &info) == 0) (void)!::fchmod(journal.number(), info.st_mode & 0666U);
    return journal;
  }
  return {};
}

[[noreturn]] void throw_unrecoverable(const std::string& path, const std::string& journal, int code) {
  base::throw_system_error(code, path, " has a part of the changes that a killed program has made, and ", journal,
                           " holds the rest, but the file cannot be changed: ", std::strerror(code),
                           "; open it with permission to write, while no other program has it open");
}

}  // namespace

std::string journal_name(const std::string& path) {
  std::error_code error;
  std::filesystem::path file = std::filesystem::canonical(path, error);
  if (error) file = path;
  constexpr std::string_view kSuffix = ".plait-journal";
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const std::string name =
      store::posix::shorten_name(file.filename().string(), 1 + kSuffix.size(), store::posix::max_name_bytes(folder));
  return (folder / text('.', name, kSuffix)).string();
}

bool write_through_journal(int file, const std::string& path, const FilePatch& changes) {
  const std::string name = journal_name(path);
  const Descriptor journal = create_journal(file, name);
  if (journal.number() < 0) return false;
  try {
    // Allocate the space before the journal is complete, so that a full disk cannot interrupt apply().
    if (changes.new_size > changes.old_size)
      if (const int code = base::allot(file, changes.old_size, changes.new_size - changes.old_size); code != 0)
        throw system_error(text("extend ", path), code);
    write_bytes(journal.number(), encode(file, path, changes), 0, name);
    store::posix::sync_open(journal.number(), name);
    store::posix::sync_folder(std::filesystem::path(name).parent_path().string());
  } catch (...) {
    ::unlink(name.c_str());
    if (file_size(file, path) > changes.old_size) (void)!::ftruncate(file, changes.old_size);
    throw;
  }
  apply(file, changes, path);
  ::unlink(name.c_str());
  return true;
}

void recover_from_journal(const std::string& path) {
  const std::string name = journal_name(path);
  const Descriptor journal(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (journal.number() < 0) {
    if (errno == EACCES) throw_unrecoverable(path, name, EACCES);
    return;
  }
  lock(journal.number());
  struct stat opened{};  // the file that open() has found
  struct stat named{};   // the file that has the name after the wait for the lock
  if (::fstat(journal.number(), &opened) != 0 || ::lstat(name.c_str(), &named) != 0 || opened.st_ino != named.st_ino)
    return;  // the program that wrote the journal has applied and removed it
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return;
  const auto content = read_up_to(journal.number(), static_cast<std::size_t>(opened.st_size), 0, name);
  const auto changes = decode(content, store::posix::read_identity(file.number(), path));
  const State state = changes ? determine_state(file.number(), *changes, path) : State::kOtherwiseChanged;
  if (state == State::kUnchanged || state == State::kPartial) {
    const Descriptor writable(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    const int code = writable.number() < 0 ? errno : !store::posix::lock_at_once(writable.number(), path) ? EBUSY : 0;
    if (code != 0 && state == State::kPartial) throw_unrecoverable(path, name, code);
    if (code != 0) return;  // the file has all its old bytes, and can be read; a later program applies the journal
    apply(writable.number(), *changes, path);
  }
  ::unlink(name.c_str());
}

}  // namespace plait::container::hdf5
