/// New HDF5 files without their elements, made by the HDF5 library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "container/content.hpp"
#include "container/hdf5/dataset.hpp"
#include "plait/file_options.hpp"

namespace plait::container::hdf5 {

/// The description of a new file.
struct NewFileSpec {
  std::string path;             ///< path in error messages
  std::vector<Member> members;  ///< the arrays; their offsets are not used
  std::vector<GroupAttributes> groups;
  LibraryCopies copies{};  ///< datasets that the library copies
  bool is_netcdf = false;  ///< true if netCDF's library must be able to read the file
};

/// A new file without its elements.
struct NewFile {
  std::vector<std::byte> head;  ///< all metadata
  /// For each array, the offset in the head of the 8 bytes that hold the address of its elements, or of the index of
  /// its chunks. In the head they hold the undefined address.
  std::vector<std::int64_t> address_fields;
  /// For each array of texts with a fill value, the element that refers to the fill value; empty for all other arrays.
  std::vector<std::vector<std::byte>> text_fills;
};

/// Makes datasets, the groups above them, and attributes, in the format that all versions of the library since 1.8
/// read. A dataset has chunks if its member has a chunk shape, and is contiguous otherwise; no chunk is allocated. Rank
/// 0 calls it.
/// errors  kArgument: HDF5 does not support a type, a name or an attribute, or an array has the name of the group of
///         another array. kSystem: there is no library, or it fails.
/// cost  About 1 KiB of memory for each dataset.
NewFile make_file(const NewFileSpec& spec);

}  // namespace plait::container::hdf5
