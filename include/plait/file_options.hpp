/// Options for opening an array file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plait/array_description.hpp"
#include "plait/layout.hpp"

namespace plait {

/// The mode in which a file is opened.
enum class Mode : std::uint8_t {
  kRead,  ///< `r`: reads an existing file
  /// `w`: writes a new file.  It appears as a whole when the File is closed, or not at all.
  kWrite,
  /// `r+`: changes parts of an existing array in place.  Compressed HDF5 datasets change when the File is closed.
  kReadWrite,
  /// `a`: extends an existing array, which File::append() and File::resize() change, and changes parts of it as `r+`
  /// does.  Other programs see the new shape when the File is closed.  An array that does not exist is created as in
  /// mode `w`, which is then the mode of the File.  An existing HDF5 or netCDF-4 file gets the array when the File is
  /// closed.
  kAppend
};

/// Arrays that HDF5's library copies from one file to a new one, because Plait does not read their elements: sequences,
/// references, and null dataspaces.
struct LibraryCopies {
  std::string source;  ///< path of the file
  /// The names of arrays in the file, and their names in the new file.
  std::vector<std::pair<std::string, std::string>> arrays{};
  /// True to leave out arrays that refer to arrays that the new file does not have; otherwise they are an error.
  bool skips = false;
};

/// The options of File::open().  The properties are those of the one array of a new file, and the defaults of `arrays`.
struct FileOptions : ArrayProperties {
  /// The shape of the array.  Raw files and mode `w` need shape and dtype; they must agree with a file that states
  /// them.
  std::optional<Extents> shape;
  /// The type of an element as .npy files spell it.
  std::optional<std::string> dtype;
  /// The bytes of an element; 0 derives them from dtype.  They are required if dtype is not a simple .npy spelling.
  /// They must agree with a file that states them.
  std::int64_t element_bytes = 0;
  /// The order of the array in the file, C by default.  A .npy file states its own.
  std::optional<Order> order;
  /// The byte at which the array of a raw file begins.
  std::int64_t offset = 0;
  /// True if the raw file holds several arrays, one after the other.  File::select() chooses one of them at a time.
  /// The file may be longer than this array, and writing extends it.  Each step of a pipe may then hold another array.
  bool several = false;
  /// The arrays of a new file, for formats that hold arrays under names.  They replace the one array that shape, dtype
  /// and order describe.  The file is opened with the first one; File::select_variable() selects another.
  std::vector<ArrayDescription> arrays{};
  /// True if a new file stays under a temporary name next to `path` when the File is not closed or the program is
  /// killed.  No other program may write the same name meanwhile.  This is supported for ordinary files, folders and
  /// striped files.  In S3 and Google Cloud Storage, the objects of an array stay without metadata.
  bool keeps_unfinished = false;
  /// True if a new file continues the unfinished file of an earlier program under the temporary name, if that has the
  /// same size and header.  Elements that were being written when that program ended have arbitrary values, and their
  /// chunks may be damaged; write all of them again.
  bool continues = false;
  /// True if close() returns only when the file survives a loss of power.  If false, a new file still appears as a
  /// whole or not at all when the program is killed, but nothing is synced: after a crash of the host the file may be
  /// empty or lack elements.  Without a value it takes PLAIT_DURABLE from the environment, or else true.
  /// docs/concepts/collectives.md lists what survives.
  std::optional<bool> durable;
  /// The groups of a new file with their attributes, for formats that have groups.  Groups that do not exist are made.
  std::vector<GroupAttributes> groups{};
  /// Arrays that HDF5's library copies from another file into a new HDF5 file, on rank 0.  References in them name the
  /// objects of the same names in the new file.  There may be no other arrays.
  LibraryCopies library_copies{};
  /// The staging memory of a rank in bytes; 0 takes PLAIT_MEMORY from the environment of rank 0, or else 32 MiB.
  std::int64_t memory = 0;
  /// The strategy, "direct" or "two-phase".  An empty text takes PLAIT_STRATEGY from the environment of rank 0, or else
  /// lets the library choose.
  std::string strategy;
  /// The number of ranks that access the store in two-phase accesses; 0 lets the library choose.
  std::int64_t readers = 0;
};

/// Returns the options that create a file for the array, except for the array's name.
FileOptions options_for(const ArrayDescription& array);

}  // namespace plait
