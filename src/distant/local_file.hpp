/// A file on a disk that this process can access.
#pragma once

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

/// An open file with positioned reads and writes.
/// threads  Any number at once.
/// errors  kArgument: a change of a file that is open only for reading.  All calls, kSystem: `cannot read 64 bytes at
///         offset 128 of /disk/a on rank 2 (host node7): cause`.
class LocalFile {
 public:
  /// Opens the file of `rank`.  If `create` is true and the mode is kWrite, it is created or truncated.  `named` is
  /// true if the file keeps its name, so that sync() fails if it has been removed.
  LocalFile(const std::string& path, DistantMode mode, int rank, bool create, bool named = true);

  const std::string& path() const { return path_; }
  FileIdentity identity() const;
  /// Returns an identity that is the same on all hosts that see the file.
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
  void remove() const;

 private:
  void check_writable() const;
  [[noreturn]] void fail(const std::string& what, int code) const;
  /// Reads until `into` is full or the file ends, and returns the number of bytes read.
  std::size_t read_available(std::int64_t offset, std::span<std::byte> into) const;

  std::string path_;
  std::string where_;
  bool writable_;
  bool named_;
  store::posix::Descriptor file_;
};

/// Returns the name of this host.
std::string host_name();

}  // namespace plait::distant
