/// What an array file is opened with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plait/array_attribute.hpp"
#include "plait/layout.hpp"

namespace plait {

/// The shape and element type of an array in a file.
struct ArrayType {
  Extents shape;
  /// The type of an element as .npy files spell it (`<f8`), or empty where only its size is known.
  std::string dtype;
  std::int64_t element_bytes = 0;
  Order order = Order::kC;
};

enum class Mode : std::uint8_t {
  kRead,      ///< `r`
  kWrite,     ///< `w`: a new file, which appears whole when the File is closed, or not at all
  kReadWrite  ///< `r+`: parts of an existing array, in place; packed HDF5 datasets change when the File is closed
};

/// An array of a file that holds several.
struct NamedArray {
  std::string name;
  ArrayType type;
  /// As those of FileOptions.
  std::optional<Extents> chunk{};
  std::string codec{};
  std::string fill_value{};
  std::vector<std::string> dimension_names{};
  ArrayAttributes attributes{};
  std::vector<std::int64_t> unlimited{};
};

struct FileOptions {
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
  std::vector<NamedArray> arrays{};
  /// Mode `w` of formats that keep an array in chunks, such as Zarr: the shape of a chunk, one number of 1 or more for
  /// each dimension.  Not given: chunks of about 8 MiB that are contiguous in the array's order, as far as can be.
  /// Empty, of HDF5 files: the array is kept in one piece, whatever its fill value; what nobody writes is zero then.
  std::optional<Extents> chunk{};
  /// The same of a shard, a file that holds many chunks; each size is a multiple of the chunk's.  Not given: none.
  std::optional<Extents> shard{};
  /// How each chunk is packed: `none`, `zstd:3`, `gzip:5`, with a level or without one.  Empty: not at all.
  std::string codec{};
  /// The value of elements that nobody writes, as JSON spells it: `0`, `1.5`, `NaN`, `-Infinity`, `true`, `[0, 1]` of a
  /// complex type.  Empty: zero.
  std::string fill_value{};
  /// The names of the dimensions, one for each; empty: they have none.
  std::vector<std::string> dimension_names{};
  /// The numbers of the dimensions that other programs may extend, of HDF5 and netCDF-4 files, where the array lies in
  /// chunks then.  All those of Zarr may be, so nothing is kept there.
  std::vector<std::int64_t> unlimited{};
  /// Mode `w`: what is written stays when the File is not closed, or its program is killed, under a temporary name beside
  /// `path`, and no other program may write that name so meanwhile.  For ordinary files, folders and striped files.
  bool keeps_unfinished = false;
  /// The same, going on with what an earlier program has left so, where that has the same size and the same head.
  /// Elements that were being written when it ended have any values, and of chunks that were, a reader may find damaged
  /// ones: write all of these again.
  bool continues = false;
  /// Mode `w` of formats that have them: attributes of the array, and of groups.  Groups that are named are made.
  ArrayAttributes attributes{};
  std::vector<GroupAttributes> groups{};
  /// Staging memory of a rank in bytes; 0: PLAIT_MEMORY from the environment of rank 0, or 32 MiB.
  std::int64_t memory = 0;
  std::string strategy;      ///< "", "direct" or "two-phase"; "": PLAIT_STRATEGY of rank 0, or automatic
  std::int64_t readers = 0;  ///< ranks that access the store in two-phase accesses; 0: chosen by the library
};

}  // namespace plait
