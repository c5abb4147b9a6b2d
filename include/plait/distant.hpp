/// Distant I/O: reading and writing files that lie on other ranks' disks, without those ranks' doing.
///
/// The model of Nieplocha, Foster and Dachsel, "Distant I/O" (1998), section 2: the calls of the C library with the
/// offset as an argument, a handle that may be remote, the rank that the file is at home on, and a request.
///
/// A remote access is a message that a thread of the home's process serves while its program computes; the bytes go
/// straight into the caller's buffer.  One's own disk, and files of ranks of the same node that this process can open
/// by their path, are accessed without a message.
///
/// What is promised (docs/guides/distant-io.md has it at length):
/// - Once a write has been waited for, every read that begins later, by any rank, finds it.
/// - Accesses that nobody has waited for are in no order, also those of one rank.  Where such ones overlap, each byte
///   is that of one of them; a request is carried out in pieces, so that no more than a byte is certain to be whole.
/// - After a sync has been waited for, what had been waited for when it began survives a loss of power of the home.
/// - Buffers belong to a request until it has been waited for, or test() has returned true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "plait/comm.hpp"

namespace plait {

enum class DistantMode : std::uint8_t {
  kRead,       ///< files that are there, to read
  kReadWrite,  ///< files that are there, to read and write
  kWrite,      ///< new files, to read and write; those of the same name are emptied
};

/// This rank's part of what is opened.
struct DistantOptions {
  std::string path;  ///< of the file that this rank brings along; empty: none
  DistantMode mode = DistantMode::kReadWrite;
  bool temporary = false;  ///< the file is removed when it is closed; a new one has no name once it is open
};

/// An access under way.  Copies are the same one.
/// threads  Any number at once.
class DistantRequest {
 public:
  class Impl;
  explicit DistantRequest(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  /// Returns once the access is done.
  /// errors  kSystem, each time it is asked: names the host, the path, the offset and the cause, as reading past the
  ///         end, a full disk, a rank that has ended.  Of a write that failed any part may have been written.
  void wait();
  /// Whether wait() would return at once.
  bool test() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Waits for all of them.  errors  That of the first one in the list that has one, once all have ended.
void wait_all(std::span<DistantRequest> requests);

/// Files of several ranks under one handle, at most one of each rank, or one file found by a name.
/// cost     A handler thread for each communicator, asleep while nobody calls (below 1 % of a core), and at most 4 MiB
///          of buffers at the home, whoever calls: callers take turns, and what finds no buffer waits.
/// threads  Any number at once, close() apart.  MPI is to be initialised for MPI_THREAD_MULTIPLE.
class DistantFile {
 public:
  /// Opens or makes this rank's file and registers it.  Collective; the same mode everywhere.
  /// errors  The same on every rank.  kSystem: a file cannot be opened.  kArgument: MPI below MPI_THREAD_MULTIPLE.
  static DistantFile open(const DistantOptions& options, const Comm& comm = Comm());
  /// Takes part in the open of the other ranks with an error, which all get.  errors  As File::refuse_open.
  [[noreturn]] static void refuse_open(const std::string& message, const Comm& comm, int system_code = 0);

  /// Registers a file of this rank alone under a name, for others to find.  Not collective, but on a communicator on
  /// which a DistantFile has been opened.
  /// errors  kArgument: the name is taken, there is no path.  kSystem: the file cannot be opened.
  static DistantFile offer(const std::string& name, const DistantOptions& options, const Comm& comm);
  /// The file that some rank offers under a name.  Not collective, as above.
  /// errors  kArgument: nobody offers it now.
  static DistantFile find(const std::string& name, const Comm& comm);

  DistantFile(DistantFile&&) noexcept;
  DistantFile& operator=(DistantFile&&) noexcept;
  /// Waits for this rank's requests and takes its own file away from the others; a temporary one is removed.
  ~DistantFile();

  /// The rank at which a file that was offered or found is at home; -1 of those that were opened together.
  int home() const;
  bool is_open() const;
  /// Whether accesses to the file of a rank go without a message.
  bool direct(int rank) const;

  /// Reads or writes `bytes` bytes at `offset` of the file of `rank`.  Reading past the end is an error; writing there
  /// makes the file longer, and what lies between reads as zero.  The start_... calls return at once.
  /// errors  kArgument: no such rank, an offset or size below zero, a file open only to read, a closed handle.
  ///         kSystem: as DistantRequest::wait.
  void read(std::int64_t offset, void* buffer, std::int64_t bytes, int rank);
  void write(std::int64_t offset, const void* buffer, std::int64_t bytes, int rank);
  DistantRequest start_read(std::int64_t offset, void* buffer, std::int64_t bytes, int rank);
  DistantRequest start_write(std::int64_t offset, const void* buffer, std::int64_t bytes, int rank);
  /// Makes the file of a rank durable on its disk.
  void sync(int rank);
  DistantRequest start_sync(int rank);
  /// The bytes of the file of a rank, and their change: new ones are zero.
  std::int64_t size(int rank);
  void resize(std::int64_t bytes, int rank);

  /// Waits for this rank's requests and ends the handle.  Collective where open() was.  An offered file is not found
  /// any more, and calls of others on it fail.
  /// errors  kSystem, on every rank: a file that is to be removed cannot be, or a rank has given up.
  void close();
  /// The same for a rank that cannot go on: where close() is collective the others' next collective call says so.
  void abandon() noexcept;

  class Impl;

 private:
  explicit DistantFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plait
