/// Redistribution: arrays in memory from one layout into another.
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

/// A box of `shape` elements: where it begins in the source array and in the target array.
struct Section {
  Extents shape;
  Extents source_origin;
  Extents target_origin;
};

struct RedistributionOptions {
  /// Most staging memory of a process in bytes; 0: 32 MiB.  Arrays in shared memory need next to none.
  std::int64_t memory = 0;
  /// A type's name, which is compared between ranks as well.
  std::string element_name;
  /// Whether halo positions of the target that have an element beside the block are filled.
  bool fill_halo = false;
  /// What is moved; without it both arrays whole.
  std::optional<Section> section;
};

/// Copies the elements of the source parts into the target parts.  With an MPI Comm each process passes its own part of
/// either layout, none for a layout that it is not in; the Comm has at least as many processes as the layouts' ranks
/// reach to.  Alone a process passes the parts of all ranks of each, ascending.  Dense parts (without steps) are of the
/// layout's padded shape.  Collective.
/// cost    Plans anew each time; a Redistribution plans once.
/// errors  kArgument on every rank: different shapes, ranks beyond the Comm, too little memory, calls that differ
///         between ranks.  kSystem: no shared memory, a process has ended.
/// pre     Source and target parts do not overlap.
void redistribute(const Layout& source, std::span<const ConstPart> source_parts, const Layout& target,
                  std::span<const MutablePart> target_parts, std::int64_t element_bytes, const Comm& comm = {},
                  const RedistributionOptions& options = {});
/// The same, carried out by the Comm's thread, in the order in which things were started.  The arrays stay untouched
/// until wait() returns.
Request start_redistribute(const Layout& source, std::vector<ConstPart> source_parts, const Layout& target,
                           std::vector<MutablePart> target_parts, std::int64_t element_bytes, const Comm& comm = {},
                           const RedistributionOptions& options = {});

/// Takes part in the call that the other ranks make next with an error of this one, as File::refuse_open.
[[noreturn]] void refuse_redistribute(const std::string& message, const Comm& comm, int system_code = 0);

/// Every rank gets the text of rank `root`; at most 8000 bytes.  Collective; `call` is compared between ranks.
std::string tell(const std::string& call, const std::string& text, int root, const Comm& comm);

/// Memory for a local array that all processes of a node see.  Redistributions between such arrays copy each byte once,
/// without messages and windows.  Nothing of it stays behind in /dev/shm, whatever is killed when.
/// threads  As plain memory.
class SharedMemory {
 public:
  /// At least `bytes` bytes, each process its own number, zero at first, at a multiple of 2 MiB.  A process that is
  /// alone gets memory of its own.  Collective.
  /// errors  kSystem, on every rank: no room.
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
/// Calls are collective over the Comm.  Where all arrays of a node lie in SharedMemory, a run waits for the others
/// twice, and copies each byte once; whether they do is found out at each run.
/// threads  One thread at a time for each object.
class Redistribution {
 public:
  /// Plans.  Collective.
  /// errors  As redistribute().
  Redistribution(const Layout& source, const Layout& target, std::int64_t element_bytes, const Comm& comm = {},
                 const RedistributionOptions& options = {});
  /// Waits for what was started.
  ~Redistribution();
  Redistribution(Redistribution&&) noexcept;
  Redistribution& operator=(Redistribution&&) noexcept;

  /// Moves the elements, as redistribute() does.
  void run(std::span<const ConstPart> source_parts, std::span<const MutablePart> target_parts);
  /// The same, by the Comm's thread.
  Request start(std::vector<ConstPart> source_parts, std::vector<MutablePart> target_parts);
  /// Takes part in the run that the other ranks make next with an error of this one, as File::refuse_open.
  [[noreturn]] void refuse(const std::string& message, int system_code = 0);

  /// Messages, runs, copies and staging of this rank, in lines for people.  Not collective.
  std::string explain() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plait
