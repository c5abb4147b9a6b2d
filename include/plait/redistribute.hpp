/// Redistribution: copies arrays in memory from one layout to another.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/comm.hpp"
#include "plait/file.hpp"
#include "plait/layout.hpp"

namespace plait {

/// A box of `shape` elements and its first indices in the source array and in the target array.
struct Section {
  Extents shape;
  Extents source_origin;
  Extents target_origin;
};

struct RedistributionOptions {
  /// Upper limit of the staging memory of a process in bytes; 0: 32 MiB.  Arrays in shared memory need almost none.
  std::int64_t memory = 0;
  /// The name of the element type; the ranks check that they pass the same one.
  std::string element_name;
  /// True if halo positions of the target that are inside the array are filled.
  bool fill_halo = false;
  /// The box to copy; without it the whole arrays.
  std::optional<Section> section;
};

/// Copies the elements of the source parts into the target parts.  With an MPI Comm each process passes its own part of
/// each layout, and none for a layout in which it has no rank; every rank of both layouts must be a rank of the Comm.
/// Without MPI the process passes the parts of all ranks of each layout, by ascending rank.  Dense parts (without
/// strides) have the layout's padded shape.  Collective.
/// cost    Plans in each call; a Redistribution plans once.
/// errors  kArgument on every rank: different shapes, ranks beyond the Comm, too little memory, calls that differ
///         between ranks.  kSystem: no shared memory, a process has ended.
/// pre     Source and target parts do not overlap.
void redistribute(const Layout& source, std::span<const ConstPart> source_parts, const Layout& target,
                  std::span<const MutablePart> target_parts, std::int64_t element_bytes, const Comm& comm = {},
                  const RedistributionOptions& options = {});
/// Starts a redistribution, which the Comm's thread carries out after earlier ones.  The arrays must stay untouched
/// until wait() returns.
Request start_redistribute(const Layout& source, std::vector<ConstPart> source_parts, const Layout& target,
                           std::vector<MutablePart> target_parts, std::int64_t element_bytes, const Comm& comm = {},
                           const RedistributionOptions& options = {});

/// Makes the call that the other ranks make next fail with an error of this rank, as File::fail_open.
[[noreturn]] void fail_redistribute(const std::string& message, const Comm& comm, int system_code = 0);

/// Broadcasts a text of at most 8000 bytes from rank `root`.  Collective; the ranks check that they pass the same
/// `call`.
std::string broadcast_text(const std::string& call, const std::string& text, int root, const Comm& comm);

/// Memory for a local array that all processes of a node share.  Redistributions between such arrays copy each byte
/// once, without messages or windows.  Nothing is left in /dev/shm, even if processes are killed.
/// threads  As for private memory.
class SharedMemory {
 public:
  /// Allocates at least `bytes` bytes, which may differ between processes; zeroed, and aligned to 2 MiB. Without MPI it
  /// is private memory.  Collective.
  /// errors  kSystem, on every rank: out of memory.
  SharedMemory(std::int64_t bytes, const Comm& comm);
  ~SharedMemory();
  SharedMemory(SharedMemory&&) noexcept;
  SharedMemory& operator=(SharedMemory&&) noexcept;

  std::byte* data() const;
  std::int64_t bytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// A redistribution that is planned once and carried out many times.
///
/// Calls are collective over the Comm.  If all arrays of a node are in SharedMemory, a run synchronizes twice and
/// copies each byte once; each run checks whether they are.
/// threads  One thread at a time for each object.
class Redistribution {
 public:
  /// Plans the redistribution.  Collective.
  /// errors  As redistribute().
  Redistribution(const Layout& source, const Layout& target, std::int64_t element_bytes, const Comm& comm = {},
                 const RedistributionOptions& options = {});
  /// Waits for runs that were started.
  ~Redistribution();
  Redistribution(Redistribution&&) noexcept;
  Redistribution& operator=(Redistribution&&) noexcept;

  /// Moves the elements, as redistribute() does.
  void run(std::span<const ConstPart> source_parts, std::span<const MutablePart> target_parts);
  /// Starts a run, which the Comm's thread carries out.
  Request start(std::vector<ConstPart> source_parts, std::vector<MutablePart> target_parts);
  /// Makes the run that the other ranks make next fail with an error of this rank, as File::fail_open.
  [[noreturn]] void fail(const std::string& message, int system_code = 0);

  /// Describes the messages, runs, copies and staging memory of this rank, as text.  Not collective.
  std::string explain() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plait
