/// New HDF5 files: what is in front of the elements, made by HDF5's library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "container/container.hpp"
#include "container/hdf5/dataset.hpp"

namespace plait::container::hdf5 {

/// The file without its elements.
struct NewFile {
  std::vector<std::byte> head;        ///< all that is in front of them
  std::int64_t bytes = 0;             ///< of the whole file
  std::vector<std::int64_t> offsets;  ///< where each dataset begins; 0 for one without elements
};

/// Makes datasets, with the groups above them, which all versions of the library from 1.8 on read: each in one piece, or
/// if its content has a chunk, without any of its chunks, which are to be packed by `filters`.  Rank 0 calls it.  path: for errors.
/// errors  kArgument: a type or a name that HDF5 has not, or two names of which one is a group of the other.
///         kSystem: there is no library; it fails.
/// cost    Some 2 KiB of memory for each dataset.
NewFile make_file(const std::vector<Member>& members, const std::vector<Filter>& filters, const std::string& path);

}  // namespace plait::container::hdf5
