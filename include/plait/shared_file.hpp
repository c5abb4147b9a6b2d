/// Shared Files: one logical file over the disks of all ranks, read and written by any rank at any offset.
///
/// The model of Nieplocha, Foster and Dachsel, "Distant I/O" (1998), section 3: the bytes are distributed in stripes
/// over component files, one of each rank, which are reached by Distant I/O (plait/distant.hpp); no servers.  Where all
/// ranks see the path's folder as the same one, a single ordinary file at that path is used instead.
///
/// What is promised, beside the promises of Distant I/O about wait() (docs/guides/shared-files.md has it at length):
/// - What was never written reads as zero.  Reading past the end is an error that says where the end is.
/// - A component's length changes only when bytes of it are written, so a file of which one byte is written far out
///   takes one stripe of one disk.
/// - Sizes and offsets go up to 2^63 - 1.
/// - A file that is not persistent has no name in any folder once it is open, so that nothing of it is left whatever
///   ends the ranks; but one file that ranks of several nodes see keeps a hidden name until close(), and a rank that is
///   killed while it opens may leave an empty file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plait/comm.hpp"
#include "plait/distant.hpp"

namespace plait {

/// Where the bytes go.
enum class SharedFilePlace : std::uint8_t {
  kDetect,  ///< one file where all ranks see the folder as one, else component files
  kOne,     ///< one file that all ranks see
  kStriped  ///< a component file of each rank
};

enum class SharedFileMode : std::uint8_t {
  kRead,       ///< a file that is there, to read
  kReadWrite,  ///< a file that is there, to read and write
  kWrite,      ///< a new one, to read and write
};

struct SharedFileOptions {
  std::string path;  ///< the same on every rank; its folder is on each rank's own disk, or seen by all
  SharedFileMode mode = SharedFileMode::kWrite;
  /// kWrite: stays after close(), in place of a persistent file of the same name.  Otherwise close() deletes it, and
  /// what has the name is left alone.
  bool persistent = false;
  /// kWrite, persistent: what is replaced stays until close() has ended well, and stays for good where it does not.
  /// Otherwise it goes once the new one is there, at open().
  bool atomic = false;
  std::int64_t request = 0;  ///< bytes of a typical request, which sets the stripe unit; 0: not known
  std::int64_t unit = 0;     ///< bytes of a stripe; 0: from `request`, else 32 KiB (section 3)
  /// No byte may be written at or beyond this offset; 0: none, or that which a persistent striped file was made with.
  std::int64_t limit = 0;
  std::int64_t expected = 0;  ///< bytes that the file is to get: rank 0 warns where disks lack the room; 0: not known
  SharedFilePlace place = SharedFilePlace::kDetect;
};

/// threads  Any number at once, close() and resize() apart.
class SharedFile {
 public:
  /// Collective; the same options everywhere.  A file that was written by another number of ranks is opened by any
  /// number, as long as each of its component files is seen by some rank.
  /// cost    A few agreements, and two messages of each rank to rank 0.  Reopening: each rank reads the descriptions of
  ///         the components in its folder, and there are as many more agreements as one rank has components.
  /// errors  The same on every rank.  kArgument: options that differ or make no sense, MPI below MPI_THREAD_MULTIPLE.
  ///         kSystem: a folder that is not there or cannot be written, components that no rank sees (which, and on
  ///         which host they were written), several files of that name.
  static SharedFile open(const SharedFileOptions& options, const Comm& comm = Comm());

  /// Takes part in the open of the other ranks with an error, which all get.  errors  As File::refuse_open.
  [[noreturn]] static void refuse_open(const std::string& message, const Comm& comm, int system_code = 0);

  SharedFile(SharedFile&&) noexcept;
  SharedFile& operator=(SharedFile&&) noexcept;
  ~SharedFile();

  bool is_open() const;
  /// Whether it is one file that all ranks see.
  bool one() const;
  /// The number of component files; 1 of one file.
  int components() const;
  /// Bytes of a stripe; 0 of one file.
  std::int64_t unit() const;
  /// The rank that has a component on its disk; of one file the rank that asks.  errors  kArgument: no such component.
  int home(int component) const;

  /// Reads or writes `bytes` bytes at `offset`.  The start_... calls return at once.
  /// cost    One message for each 256 KiB of a component on another node, one at least; none on one's own.  A read that
  ///         passes the end that this rank knows of, and what its last component has, asks all components.
  /// errors  kArgument: an offset or size below zero, writing past `limit` or to a file open only to read, a closed
  ///         one.  kSystem: as DistantRequest::wait, and reading past the end.  Of several, the one of the lowest
  ///         offset.
  void read(std::int64_t offset, void* buffer, std::int64_t bytes);
  void write(std::int64_t offset, const void* buffer, std::int64_t bytes);
  DistantRequest start_read(std::int64_t offset, void* buffer, std::int64_t bytes);
  DistantRequest start_write(std::int64_t offset, const void* buffer, std::int64_t bytes);

  /// One past the last byte of what was written by waited-for requests.  Asks every component: cost grows with them.
  std::int64_t size();
  /// Sets the size; bytes that are new read as zero.  Waits for this rank's requests.  Collective.
  /// errors  The same on every rank.  kArgument: below zero, past `limit`, a file open only to read on some rank.
  ///         kSystem: a component that cannot be changed; the size is then between the two.
  void resize(std::int64_t bytes);
  /// Instead of a collective call whose arguments this rank cannot make: brings the error to the ranks that make it.
  /// errors  Always, as File::refuse_open; the same on every rank.
  [[noreturn]] void refuse(const std::string& message, int system_code = 0);
  /// Makes all waited-for writes, of any rank, durable.  Not collective.
  /// cost    A message to each component's home, or of one file to each node, and what their disks take.
  void sync();
  /// From now on, writing is an error for this rank (GA's SF_Rwtor).
  void read_only();

  /// Waits for this rank's requests and ends the handle; deletes a file that is not persistent.  Collective.
  /// errors  kSystem, on every rank: one has given up, or an atomic file cannot take its name.
  void close();
  /// For a rank that cannot go on: the others' next collective call on the file says so.
  void abandon() noexcept;

 private:
  class Impl;
  explicit SharedFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plait
