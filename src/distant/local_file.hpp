/// A file on a disk that this process can access.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "plait/distant.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/identity.hpp"

namespace plait::distant {

/// The identity of a file on one host.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// Describes to other processes of a host how to open a file that this process has open.
struct FileLocation {
  std::array<char, 900> path{};  ///< empty: the path does not fit
  std::int64_t process = 0;
  std::int64_t descriptor = -1;
  FileIdentity identity;
  bool writable = false;
  bool named = true;  ///< false if the file is unlinked after all ranks have opened it
};

/// Throws the error of an access to a file that its owner does not serve.
[[noreturn]] void throw_no_file(int rank);

/// A word, in memory that this process shares with the owner of a file, which has the value `number` as long as the
/// owner has the file open (neighbours.cpp).
struct OpenMark {
  const std::atomic<std::int64_t>* word = nullptr;  ///< null: nothing is checked
  std::int64_t number = 0;
};

/// An open file with positioned reads and writes.
/// threads  Any number at once.
/// errors  kArgument: a change of a file that is open only for reading.  All calls, kSystem: `cannot read 64 bytes at
///         offset 128 of /disk/a on rank 2 (host node7): cause`; EBADF if the owner has closed a file with a mark.
class LocalFile {
 public:
  /// Opens the file of `rank`.  If `create` is true and the mode is kWrite, it is created or truncated.  `named` is
  /// true if the file keeps its name, so that sync() fails if it has been removed.
  LocalFile(const std::string& path, DistantMode mode, int rank, bool create, bool named = true);
  /// Opens a file that another process of this host, of rank `rank`, has open: by its path, or through that process if
  /// the path leads to another file or to none here.
  LocalFile(const FileLocation& location, int rank, OpenMark mark);

  const std::string& path() const { return path_; }
  FileIdentity identity() const;
  FileLocation location() const;
  /// Returns an identity that is the same on all hosts that see the file, for example through NFS.
  store::Identity identity_anywhere() const { return store::posix::read_identity(file_.number(), where_); }

  void read(std::int64_t offset, std::span<std::byte> into) const;
  /// Reads; bytes of `into` after the end of the file become zero.
  void read_part(std::int64_t offset, std::span<std::byte> into) const;
  /// Reads if the page cache has all of the bytes; otherwise returns false, and the contents of `into` are undefined.
  bool read_cached(std::int64_t offset, std::span<std::byte> into) const noexcept;
  void write(std::int64_t offset, std::span<const std::byte> from) const;
  /// errors  Also kSystem, ENOENT if the file has been removed: its data would not survive a loss of power.
  void sync() const;
  std::int64_t size() const;
  void resize(std::int64_t bytes) const;
  /// Reserves the space of the first `bytes` bytes, if the file system supports that.
  void reserve(std::int64_t bytes) const;
  void remove() const;
  /// Returns false if the owner has closed the file.  Accesses check this before each MiB, and reads also after the
  /// last one.  A write of a piece that has begun before the owner closes the file may end later, as on the owner's own
  /// threads.
  bool has_owner() const {
    // Acquire, paired with the release in remove_mark(): what the owner did before it closed the file has happened.
    return mark_.word == nullptr || mark_.word->load(std::memory_order_acquire) == mark_.number;
  }

 private:
  void check_owner() const {
    if (!has_owner()) throw_no_file(rank_);
  }
  void check_writable() const;
  [[noreturn]] void fail(const std::string& what, int code) const;
  /// Reads until `into` is full or the file ends, and returns the number of bytes read.
  std::size_t read_available(std::int64_t offset, std::span<std::byte> into) const;

  std::string path_;
  std::string where_;
  int rank_;
  OpenMark mark_;
  bool writable_;
  bool named_;
  store::posix::Descriptor file_;
};

/// Returns the name of this host.
std::string host_name();

}  // namespace plait::distant
