/// Shared Files: one logical file over the disks of all ranks, read and written by any rank at any offset.
///
/// The model of Nieplocha, Foster and Dachsel, "Distant I/O" (1998), section 3: the bytes are distributed in stripes
/// over component files, one of each rank, which are accessed by Distant I/O (plait/distant.hpp); there are no server
/// processes.  If all ranks see the path's folder as the same one, a single ordinary file at that path is used instead.
///
/// Guarantees, in addition to those of Distant I/O about wait() (docs/guides/shared-files.md has the details):
/// - Bytes that were never written read as zero.  Reading past the end is an error, which states the file's size.
/// - A component's length changes only when bytes of it are written, so writing one byte at a large offset takes one
///   stripe of one disk.
/// - Sizes and offsets may be up to 2^63 - 1.
/// - A file that is not persistent is unlinked as soon as it is open, so that nothing remains even if ranks are killed.
///   Two exceptions: one file that ranks of several nodes see keeps a hidden name until close(), and a rank that is
///   killed during open() may leave an empty file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "plait/comm.hpp"
#include "plait/distant.hpp"

namespace plait {

enum class SharedFileMode : std::uint8_t {
  kRead,       ///< an existing file, for reading
  kReadWrite,  ///< an existing file, for reading and writing
  kWrite,      ///< a new file, for reading and writing
};

struct SharedFileOptions {
  std::string path;  ///< equal on every rank; its folder is on each rank's own disk, or visible to all
  SharedFileMode mode = SharedFileMode::kWrite;
  /// kWrite: the file persists after close() and replaces a persistent file of the same name.  Otherwise close()
  /// deletes it, and an existing file of that name is not touched.
  bool persistent = false;
  /// kWrite, persistent: close() replaces an existing file, which stays if close() fails.  Otherwise open() replaces
  /// it.
  bool atomic = false;
  std::int64_t request = 0;  ///< bytes of a typical request, from which the stripe unit is chosen; 0: not known
  std::int64_t unit = 0;     ///< bytes of a stripe; 0: from `request`, else 32 KiB (section 3)
  /// No byte may be written at or beyond this offset; 0: no limit, or the one that a persistent striped file was
  /// created with.
  std::int64_t limit = 0;
  std::int64_t expected = 0;  ///< expected size in bytes: rank 0 warns if the disks lack the space; 0: not known
  /// True: a component file of each rank stores a part of the bytes.  False: one file that all ranks see stores them.
  /// Nothing: one file if all ranks see the folder as the same one, otherwise component files.
  std::optional<bool> striped;
  bool reserve = false;  ///< resize() reserves the space of all bytes, if the file systems support that
};

/// threads  Any number at once, except for close() and resize().
class SharedFile {
 public:
  /// Collective, with the same options on all ranks.  A file can be opened by a different number of ranks than wrote
  /// it, if each of its component files is visible to some rank.
  /// cost    A few agreements, and two messages of each rank to rank 0.  Reopening: each rank reads the descriptions of
  ///         the components in its folder, and there are as many further agreements as one rank has components.
  /// errors  The same on every rank.  kArgument: options that differ or are invalid.
  ///         kSystem: a folder that does not exist or is not writable, components that no rank sees (with the hosts on
  ///         which they were written), several files of that name.
  static SharedFile open(const SharedFileOptions& options, const Comm& comm = Comm());

  /// Makes the open() that the other ranks call fail with an error of this rank.  errors  As File::fail_open.
  [[noreturn]] static void fail_open(const std::string& message, const Comm& comm, int system_code = 0);

  SharedFile(SharedFile&&) noexcept;
  SharedFile& operator=(SharedFile&&) noexcept;
  ~SharedFile();

  bool is_open() const;
  /// True if the bytes are in component files; false if they are in one file that all ranks see.
  bool is_striped() const;
  /// Returns the number of component files; 1 for one file.
  int components() const;
  /// Returns the bytes of a stripe; 0 for one file.
  std::int64_t unit() const;
  /// Returns the rank that has a component on its disk; for one file the calling rank.
  /// errors  kArgument: no such component.
  int owner(int component) const;

  /// Reads or writes `bytes` bytes at `offset`.  The start_... calls return at once.
  /// cost    One message for each 256 KiB of a component on another node, at least one; none on this node.  A read past
  ///         the end of file that this rank knows of, and past its last component, asks all components for their size.
  /// errors  kArgument: a negative offset or size, writing past `limit` or to a file open only for reading, a closed
  ///         file.  kSystem: as DistantRequest::wait, and reading past the end.  Of several errors, that of the lowest
  ///         offset.
  void read(std::int64_t offset, void* buffer, std::int64_t bytes);
  void write(std::int64_t offset, const void* buffer, std::int64_t bytes);
  DistantRequest start_read(std::int64_t offset, void* buffer, std::int64_t bytes);
  DistantRequest start_write(std::int64_t offset, const void* buffer, std::int64_t bytes);

  /// Returns the size in bytes, as far as writes have been waited for.  cost  A request to every component.
  std::int64_t size();
  /// Sets the size; new bytes read as zero.  Waits for this rank's requests.  Collective.
  /// errors  The same on every rank.  kArgument: negative, past `limit`, a file open only for reading on some rank.
  ///         kSystem: a component that cannot be resized, or whose space cannot be reserved; the size is then between
  ///         the old and the new one.
  void resize(std::int64_t bytes);
  /// Makes the collective call that the other ranks make next fail with an error of this rank.
  /// errors  Always, as File::fail_open; the same on every rank.
  [[noreturn]] void fail(const std::string& message, int system_code = 0);
  /// Makes all waited-for writes, of any rank, durable.  Not collective.
  /// cost    A message to the owner of each component, or for one file to each node, and the time of their disks.
  void sync();
  /// Makes later writes of this rank an error, as SF_Rwtor of the Global Arrays toolkit does.
  void read_only();

  /// Waits for this rank's requests and closes the handle; deletes a file that is not persistent.  Collective.
  /// errors  kSystem, on every rank: a rank has called abandon(), or an atomic file cannot be renamed.
  void close();
  /// Closes the file on a rank that cannot continue.  The next collective call of the others on the file fails with an
  /// error that states it.
  void abandon() noexcept;

 private:
  class Impl;
  explicit SharedFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plait
