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
  std::vector<Member> members;  ///< the arrays; all of their content except the offset is used
  std::vector<GroupAttributes> groups;
  LibraryCopies copies{};  ///< datasets that the library copies
  bool of_netcdf = false;  ///< true if netCDF's library must be able to read the file
};

/// A new file without its elements.
struct NewFile {
  std::vector<std::byte> head;  ///< all metadata
  /// For each array, the offset in the head of the 8 bytes that state where the array begins, or where the index of its
  /// chunks is. Until then they have the value that means undefined.
  std::vector<std::int64_t> address_fields;
  /// For each array of texts with a fill value, the element that refers to it; otherwise empty.
  std::vector<std::vector<std::byte>> text_fills;
};

/// Makes datasets with the groups above them and attributes, which all versions of the library since 1.8 read. A
/// dataset is contiguous, or has chunks if its content has a chunk shape; no chunk is allocated. Rank 0 calls it.
/// errors  kArgument: HDF5 does not support a type, a name or an attribute, or the name of one array is that of
///         another's group. kSystem: there is no library, or it fails.
/// cost  About 1 KiB of memory for each dataset.
NewFile make_file(const NewFileSpec& wanted);

}  // namespace plait::container::hdf5
