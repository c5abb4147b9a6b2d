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
  /// Opens the file for the rank that owns it, creating it if `create` and the mode say so.  `named` is true if it
  /// keeps its name, so that a loss of the name is an error.
  LocalFile(const std::string& path, DistantMode mode, int rank, bool create, bool named = true);

  const std::string& path() const { return path_; }
  FileIdentity identity() const;
  /// Returns the identity of the file on all hosts that see it.
  store::Identity identity_anywhere() const { return store::posix::read_identity(file_.number(), where_); }

  void read(std::int64_t offset, std::span<std::byte> into) const;
  /// Reads; bytes after the end of the file are zero.
  void read_part(std::int64_t offset, std::span<std::byte> into) const;
  /// Reads if all of it is in the page cache; otherwise returns false, and the contents of `into` are undefined.
  bool read_cached(std::int64_t offset, std::span<std::byte> into) const noexcept;
  void write(std::int64_t offset, std::span<const std::byte> from) const;
  /// errors  Also kSystem, ENOENT if the file has been removed: nothing of it would remain after a loss of power.
  void sync() const;
  std::int64_t size() const;
  void resize(std::int64_t bytes) const;
  void remove() const;

 private:
  void check_writable() const;
  [[noreturn]] void fail(const std::string& what, int code) const;
  /// Reads up to all of `into`, and returns the number of bytes that the file has.
  std::size_t read_there(std::int64_t offset, std::span<std::byte> into) const;

  std::string path_;
  std::string where_;
  bool writable_;
  bool named_;
  store::posix::Descriptor file_;
};

/// Returns the name of this host.
std::string host_name();

}  // namespace plait::distant
