/// Distant I/O: one-sided reads and writes of files on other ranks' disks.
///
/// The model of Nieplocha, Foster and Dachsel, "Distant I/O" (1998), section 2: the calls of the C library with the
/// offset as an argument, a handle that may be remote, the rank that owns the file, and a request.
///
/// A remote access is a message, served by a thread of the owner's process while its program computes; the data is
/// received directly into the caller's buffer.  Files of this rank, and files of ranks of the same node that this
/// process can open, are accessed without a message.
///
/// Consistency (docs/guides/distant-io.md has the details):
/// - Once wait() of a write has returned, every read that begins later, by any rank, sees it.
/// - Accesses that have not been waited for are unordered, even those of one rank.  If they overlap, each byte comes
///   from one of them; a request is carried out in pieces, so nothing larger than a byte is atomic.
/// - Once wait() of a sync has returned, writes that were complete when it began survive a power failure of the owner.
/// - A buffer must not be touched until its request has been waited for, or test() has returned true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "plait/comm.hpp"

namespace plait {

enum class DistantMode : std::uint8_t {
  kRead,       ///< existing files, for reading
  kReadWrite,  ///< existing files, for reading and writing
  kWrite,      ///< new files, for reading and writing; existing ones are truncated
};

/// This rank's part of a handle.
struct DistantOptions {
  std::string path;  ///< the file that this rank contributes; empty: none
  DistantMode mode = DistantMode::kReadWrite;
  bool temporary = false;  ///< the file is removed when it is closed; a new one is unlinked as soon as it is open
};

/// A pending access.  Copies refer to the same access.
/// threads  Any number at once.
class DistantRequest {
 public:
  class Impl;
  explicit DistantRequest(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  /// Waits until the access is complete.
  /// errors  kSystem, each time it is called: names the host, the path, the offset and the cause, such as reading past
  ///         the end, a full disk, a rank that has ended.  Any part of a failed write may have been written.
  void wait();
  /// True if wait() would return at once.
  bool test() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Waits for all requests.  errors  The error of the first failed request in the list, after all have completed.
void wait_all(std::span<DistantRequest> requests);

/// A handle to files of several ranks, at most one of each rank, or to one file that was found by its name.
/// cost    A handler thread for each communicator, which sleeps while there are no requests (below 1 % of a core), and
///         at most 4 MiB of buffers at the owner for any number of callers: requests wait for a free buffer.
/// threads  Any number at once, except for close().
class DistantFile {
 public:
  /// Opens or creates this rank's file and registers it.  Collective, with the same mode on all ranks.
  /// errors  The same on every rank.  kSystem: a file cannot be opened; a rank cannot open a socket at which other
  /// ranks reach it.
  static DistantFile open(const DistantOptions& options, const Comm& comm = Comm());
  /// Makes the open() that the other ranks call fail with an error of this rank.  errors  As File::fail_open.
  [[noreturn]] static void fail_open(const std::string& message, const Comm& comm, int system_code = 0);

  /// Registers a file of this rank under a name, with which other ranks can find it.  Not collective; a DistantFile
  /// must have been opened on the communicator before.
  /// errors  kArgument: the name is taken, there is no path.  kSystem: the file cannot be opened.
  static DistantFile offer(const std::string& name, const DistantOptions& options, const Comm& comm);
  /// Returns the file that a rank has registered by offer() under this name.  Not collective, like offer().
  /// errors  kArgument: no rank offers it now.
  static DistantFile find(const std::string& name, const Comm& comm);

  DistantFile(DistantFile&&) noexcept;
  DistantFile& operator=(DistantFile&&) noexcept;
  /// Waits for this rank's requests and withdraws its own file from the other ranks; a temporary one is removed.
  ~DistantFile();

  /// Returns the rank that owns an offered or found file; -1 for files opened collectively.
  int owner() const;
  bool is_open() const;
  /// True if the file of a rank is accessed without messages.
  bool direct(int rank) const;

  /// Reads or writes `bytes` bytes at `offset` of the file of `rank`.  Reading past the end is an error; writing there
  /// extends the file, and the gap reads as zeros.  The start_... calls return at once.
  /// errors  kArgument: no such rank, a negative offset or size, a file open only for reading, a closed handle.
  ///         kSystem: as DistantRequest::wait.
  void read(std::int64_t offset, void* buffer, std::int64_t bytes, int rank);
  void write(std::int64_t offset, const void* buffer, std::int64_t bytes, int rank);
  DistantRequest start_read(std::int64_t offset, void* buffer, std::int64_t bytes, int rank);
  DistantRequest start_write(std::int64_t offset, const void* buffer, std::int64_t bytes, int rank);
  /// Makes the file of a rank durable on its disk.
  void sync(int rank);
  DistantRequest start_sync(int rank);
  /// Return and set the size of the file of a rank in bytes.  New bytes are zero.
  std::int64_t size(int rank);
  void resize(std::int64_t bytes, int rank);

  /// Waits for this rank's requests and closes the handle.  Collective if open() was.  An offered file can no longer be
  /// found, and calls of other ranks on it fail.
  /// errors  kSystem, on every rank: a temporary file cannot be removed, or a rank has called abandon().
  void close();
  /// Closes the handle of a rank that cannot continue.  If close() is collective, the next collective call of the
  /// others fails.
  void abandon() noexcept;

  class Impl;

 private:
  explicit DistantFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plait
