/// Local arrays in the form in which C programs pass them.
#pragma once

#include <cstdint>
#include <vector>

#include "plait.h"
#include "plait/comm.hpp"
#include "plait/file.hpp"
#include "plait/layout.hpp"

namespace plait::c {

/// Returns the ranks of a layout whose arrays this process holds, ascending.
/// errors  kArgument: the layout has ranks beyond the communicator.
std::vector<std::int64_t> list_local_ranks(const Layout& layout, const Comm& comm);

/// Returns the number of bytes that the dense local arrays of `ranks` have together, including halos.
std::int64_t count_local_bytes(const Layout& layout, const std::vector<std::int64_t>& ranks,
                               std::int64_t element_bytes);

/// An argument with dense arrays, one after another, `void` or `const void`.
template <typename Void>
struct DenseArray {
  Void* data;
  std::int64_t bytes;
  const char* name;  ///< name of the argument, for errors
};

/// An argument that is the caller's own list.
template <typename Part>
struct PartList {
  const Part* parts;
  std::int64_t count;
  const char* name;
};

/// Convert dense arrays into parts.
/// errors  kArgument: `bytes` are too few, `data` is missing.
std::vector<MutablePart> dense_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                     const DenseArray<void>& array);
std::vector<ConstPart> dense_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                   const DenseArray<const void>& array);

/// Convert the caller's list into parts.
/// errors  kArgument: no list, a size that is too small for its array.
std::vector<MutablePart> listed_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                      const PartList<plait_part>& list);
std::vector<ConstPart> listed_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                    const PartList<plait_const_part>& list);

}  // namespace plait::c
