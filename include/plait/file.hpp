/// Files: distributed arrays in a store, read and written in any layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/array_description.hpp"
#include "plait/comm.hpp"
#include "plait/file_options.hpp"
#include "plait/layout.hpp"
#include "plait/region.hpp"
#include "plait/step.hpp"

namespace plait {

class Stream;
class File;

namespace core {
bool read_small(File& file, const Region& region, std::span<std::byte> data);
}

/// A rank's part of an array in memory.  `strides` are those of the dimensions in bytes, which may be negative;
/// empty for a dense array in the layout's order.
template <typename Byte>
struct ArrayPart {
  Byte* data = nullptr;
  Extents strides;
};
using MutablePart = ArrayPart<std::byte>;
using ConstPart = ArrayPart<const std::byte>;

/// Seconds of the last access in this process: in the store, copying, waiting for other ranks, in total.
struct AccessTimes {
  double io = 0;
  double copy = 0;
  double wait = 0;
  double total = 0;
};

/// A nonblocking access.  The arrays must stay alive, and untouched, until wait() returns.
class Request {
 public:
  class Impl;
  explicit Request(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  /// Waits for the access.  errors  The error that the blocking call would throw, in every call.
  void wait();
  /// Returns true if wait() would return at once.
  bool test() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// An open array file.
///
/// Every call is collective over the Comm: all its processes make it with equal arguments (except for their own parts),
/// and all get the same result or the same Error.  With an MPI Comm a process passes one part, that of the layout's
/// rank with its own number, or none if the layout has no such rank.  Without one the process passes the parts of all
/// ranks of the layout, by ascending rank.  A part is the padded local array, halo included.  If an element has copies,
/// one of them is written.
/// forks    Calls in a forked child throw an Error of kArgument; the destructor of a File removes nothing there.
/// threads  One thread at a time for each File.
class File {
 public:
  /// Opens `path`:
  ///   - a .npy file, or a file of raw elements;
  ///   - an array in a file that holds several, `FILE::NAME`: `.npz`, `.safetensors`, `.nc`, `.h5`, `.hdf5`, `.zarr`
  ///     (docs/formats.md);
  ///   - a file striped over disks, `stripe:NAME?disks=d1,d2&unit=64K` (see plait/disks.hpp);
  ///   - an array on the ranks' own disks, `distant:NAME?folder=/disk&unit=64K&striped=true`, which stores its shape
  ///     and type as a .npy file does;
  ///   - an array in memory, `memory:NAME`, which also stores its shape and type, and exists until the process ends
  ///     or replaces it.  All ranks that open it must be on one node;
  ///   - a pipe to another program, `pipe:NAME` (docs/guides/pipes.md).
  ///
  /// An array on the ranks' own disks is a shared file (plait/shared_file.hpp; Nieplocha, Foster and Dachsel 1998,
  /// section 3).  Each rank serves its part as long as the File is open.
  /// errors  kArgument: a shape or dtype that is missing or does not match, bad options.
  ///         kSystem: missing file or folder, no permission, a short or damaged file, no space for a new one.
  static File open(const std::string& path, Mode mode, const FileOptions& options = {}, const Comm& comm = {});
  /// Makes the open() that the other ranks call fail with an error of this rank: all ranks throw it.  Its kind is
  /// kArgument, or kSystem if a system_code such as ENOMEM is given.  The other fail functions work alike.
  [[noreturn]] static void fail_open(const std::string& message, const Comm& comm, int system_code = 0);

  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  /// Waits for accesses that were started.  A new file (mode `w`) that was not closed is discarded, with a warning on
  /// the standard error unless an exception is the cause.  Elements written in place are in the file, but not synced.
  ~File();

  const std::string& path() const;
  Mode mode() const;
  const ArrayType& type() const;
  /// Returns the shape of the chunks that the array is stored in, as in Zarr; it is empty if the array has no chunks.
  const Extents& chunk() const;
  /// Returns the attributes of the array; there are none in formats without attributes.
  const ArrayAttributes& attributes() const;
  /// Sets or removes an attribute of the array in mode `r+` of HDF5, netCDF-4 and Zarr.  attributes() changes at once;
  /// the file changes when it is closed, after the elements.  Collective.
  /// errors  kArgument: the format cannot store the value; attributes do not change in this format or mode; the
  ///         attribute to remove does not exist.
  void set_attribute(const ArrayAttribute& attribute);
  void remove_attribute(const std::string& name);

  /// Fills the parts with the region's elements that their ranks own.  `layout` is of the region's shape.  With
  /// `fill_halo` the halos of the local arrays are filled as well.
  /// cost    At most `memory` bytes of staging memory a rank; planning is independent of the number of elements.
  /// errors  kArgument: layout, region and parts do not fit the array; the file is not open.  kSystem: the store
  ///         failed.  The contents of the parts are undefined after either.
  void read(const Layout& layout, std::span<const MutablePart> parts, const Region& region = {},
            bool fill_halo = false);
  /// Writes the elements that the ranks own to the region.  A failed write in mode `w` discards the new file.
  void write(const Layout& layout, std::span<const ConstPart> parts, const Region& region = {});

  /// Extends the array along dimension `axis` by a block of the layout's shape, which is equal to that of the array in
  /// all other dimensions, and writes it.  Mode `a`; for new Zarr arrays also `w`.  Until the File is closed, other
  /// programs see the array as it was; afterwards they see all that was appended.
  /// cost    That of write().  Chunks that the end of the array crosses are read and written as a whole.
  /// errors  kArgument: the block does not fit; the array cannot grow.  kSystem: as write(); the array has its former
  ///         shape then.
  void append(const Layout& layout, std::span<const ConstPart> parts, std::int64_t axis = 0);
  /// Changes the shape of the array.  New elements have the fill value, and other programs see them when the File is
  /// closed.  If a dimension becomes smaller, the file changes at once: elements outside the new shape are discarded.
  /// cost    The names of all chunks are listed.
  /// errors  As append().
  void resize(const Extents& shape);

  /// Start an access and return at once.  A thread of this File carries the accesses out in order.  With MPI that
  /// thread may call MPI as well, so initialise MPI with MPI_THREAD_MULTIPLE.
  Request start_read(const Layout& layout, std::vector<MutablePart> parts, const Region& region = {},
                     bool fill_halo = false);
  Request start_write(const Layout& layout, std::vector<ConstPart> parts, const Region& region = {});

  /// Makes the following accesses refer to the array `type` at byte `offset` of a raw file that was opened with
  /// `several`, with at most `memory` bytes of staging memory a rank (0: as when the file was opened).  For a pipe only
  /// the type matters. The next access checks that all ranks have selected the same array.
  /// cost    No communication; the plans of the last few arrays are cached.
  /// errors  kArgument, on this rank alone: the file was not opened with `several`, or the array is invalid.
  void select(const ArrayType& type, std::int64_t offset, std::int64_t memory = 0);

  /// Begins a step of a pipe, a file opened as `pipe:NAME` (DeBenedictis & del Rosario 1993, section 8).  In a writer,
  /// all that it writes until end_step() reaches the readers together, with these attributes; the call returns true. In
  /// a reader, the call waits for the next step, and returns false if no more steps will come.  Without begin_step()
  /// each write() is a step, and each read() reads one.  Collective.
  ///
  /// Files that are not pipes have one step: later writes replace it, and attributes are not stored.
  /// errors  kArgument: a step has begun already.  kSystem: the other end of the pipe has failed or is lost.
  bool begin_step(const Attributes& attributes = {});
  /// Ends the step: a writer passes it to the readers; a reader releases it, so that the writer can reuse its part of
  /// the queue.  Collective.
  /// errors  kArgument: no step has begun.  kSystem: a write to the step has failed; the readers do not get it.
  void end_step();
  /// Returns the step that began last.
  const Step& step() const;
  /// Makes the following accesses refer to the array `name` of the step; before the first such call that is `data`.  A
  /// writer must pass the array's `type` when it selects a name for the first time; a reader learns it from type().
  /// errors  kArgument, on this rank alone: the step being read has no array of that name; the file has only one array;
  ///         a writer selects a new name without a type.
  void select_variable(const std::string& name, const std::optional<ArrayType>& type = std::nullopt);
  const std::string& variable() const;

  /// Makes the call that the other ranks make next fail with an error of this rank: all ranks throw it.  Callers use it
  /// if their own arguments are wrong, so that the other ranks do not wait for them.
  [[noreturn]] void fail(const std::string& message, int system_code = 0);

  /// Describes what read() or write() would do, as text.  Not collective; waits for accesses that were started.
  std::string explain(const Layout& layout, const Region& region = {}, bool write = false,
                      bool fill_halo = false) const;
  AccessTimes last_times() const;
  /// Caches up to `bytes` bytes of decompressed chunks on this rank, for reads of parts of chunks; without this call
  /// the last chunk.  Not collective; waits for accesses that were started.  It has no effect on arrays without
  /// compressed chunks.
  void cache_chunks(std::int64_t bytes);

  /// Makes what was written so far durable, even while a new file still has its temporary name.  Collective.
  /// errors  kSystem.
  void sync();
  /// Returns true on rank 0 if this File, in mode `w`, continues an unfinished file of an earlier program.
  bool continued() const;
  /// Returns the path of the unfinished file on rank 0 in mode `w`; else an empty text.
  std::string unfinished_path() const;

  /// Syncs the file, and gives a new one its name.  Waits for accesses of the File's streams (plait/stream.hpp) and
  /// closes the streams.
  /// errors  kSystem; the error of a started write that failed and was not waited for, which leaves the file as it was
  ///         before; the error of a part of a new file that a stream of any rank could not write: the file is
  ///         discarded.
  void close();
  /// Closes the file and discards it if it is new.  Collective calls of other ranks on this File, current and later
  /// ones, fail with an error that states it.  The other end of a pipe gets an error with the text `why`.
  void abandon(const std::string& why = {});
  bool is_open() const;

  class Impl;

 private:
  friend class Stream;
  friend class Texts;
  friend bool core::read_small(File& file, const Region& region, std::span<std::byte> data);
  explicit File(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plait
