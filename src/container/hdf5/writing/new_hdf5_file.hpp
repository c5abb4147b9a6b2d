/// New HDF5 files: all but their elements, made by HDF5's library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "container/content.hpp"
#include "container/hdf5/dataset.hpp"

namespace plait::container::hdf5 {

/// What a new file is to hold.
struct WantedFile {
  std::string path;             ///< for errors
  std::vector<Member> members;  ///< of their content all but the offset counts
  std::vector<GroupAttributes> groups;
  bool of_netcdf = false;  ///< whether it is to be what netCDF's library takes for its own
};

/// The file without its elements.
struct NewFile {
  std::vector<std::byte> head;  ///< all that describes them
  /// Of each array: where in the head 8 bytes are to say at which offset it begins, or the index of its chunks; until then
  /// they say that it is nowhere.
  std::vector<std::int64_t> address_fields;
};

/// Makes datasets, with the groups above them and attributes, which all versions of the library from 1.8 on read: each in
/// one piece, or if its content has a chunk, in chunks of which there is none.  Rank 0 calls it.
/// errors  kArgument: a type, a name or an attribute that HDF5 has not, or two names of which one is a group of the other.
///         kSystem: there is no library; it fails.
/// cost    Some 1 KiB of memory for each dataset.
NewFile make_file(const WantedFile& wanted);

}  // namespace plait::container::hdf5
