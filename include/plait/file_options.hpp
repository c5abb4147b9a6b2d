/// Options for opening an array file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plait/array_description.hpp"
#include "plait/layout.hpp"

namespace plait {

enum class Mode : std::uint8_t {
  kRead,      ///< `r`
  kWrite,     ///< `w`: a new file, which appears whole when the File is closed, or not at all
  kReadWrite  ///< `r+`: parts of an existing array, in place; packed HDF5 datasets change when the File is closed
};

/// The properties are those of the one array of a new file, and the defaults of `arrays`.
struct FileOptions : ArrayProperties {
  /// What the array is: needed for raw files and in mode `w`; checked against a .npy file's own header otherwise.
  std::optional<Extents> shape;
  std::optional<std::string> dtype;
  /// Needed with a dtype that is not a simple .npy spelling; 0: derived from dtype.  Checked if the file states it.
  std::int64_t element_bytes = 0;
  std::optional<Order> order;  ///< of the array in the file; default C; a .npy file states its own
  std::int64_t offset = 0;     ///< raw files: where the array begins, in bytes
  /// The raw file holds several arrays, one after the other; File::select() chooses one of them at a time.  The file
  /// may be longer than this array, and writing extends it.  Of a pipe each step may then be another array.
  bool several = false;
  /// Mode `w` of formats whose files hold arrays under names: what the new file is to hold, instead of the one array
  /// that shape, dtype and order describe.  The first one is selected; File::select_variable() selects another.
  std::vector<ArrayDescription> arrays{};
  /// Mode `w`: what is written stays when the File is not closed, or its program is killed, under a temporary name beside
  /// `path`, and no other program may write that name so meanwhile.  For ordinary files, folders and striped files.
  bool keeps_unfinished = false;
  /// The same, going on with what an earlier program has left so, where that has the same size and the same head.
  /// Elements that were being written when it ended have any values, and of chunks that were, a reader may find damaged
  /// ones: write all of these again.
  bool continues = false;
  /// Mode `w` of formats that have groups: their attributes.  Groups that are named are made.
  std::vector<GroupAttributes> groups{};
  /// Staging memory of a rank in bytes; 0: PLAIT_MEMORY from the environment of rank 0, or 32 MiB.
  std::int64_t memory = 0;
  std::string strategy;      ///< "", "direct" or "two-phase"; "": PLAIT_STRATEGY of rank 0, or automatic
  std::int64_t readers = 0;  ///< ranks that access the store in two-phase accesses; 0: chosen by the library
};

}  // namespace plait
