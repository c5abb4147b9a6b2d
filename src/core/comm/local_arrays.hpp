/// The local arrays that callers pass, with checks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copy/local_array.hpp"
#include "plait/comm.hpp"
#include "plait/file.hpp"

namespace plait::core {

/// Checks that the Comm has all ranks of a layout.  errors  kArgument.
void check_ranks(const Layout& layout, const Comm& comm);

/// Returns the ranks of a layout whose local arrays this process has, ascending: all ranks if the process is alone,
/// otherwise its own rank if the layout has that.
std::vector<std::int64_t> ranks_held(const Layout& layout, const Comm& comm);

/// Returns the number of threads with which a process that is alone should move this number of elements.
int useful_threads(std::int64_t elements, std::int64_t element_bytes);

/// Checks the ranks and the number of parts of this process, and returns them as arrays with strides for every
/// dimension.
std::vector<copy::LocalArray> local_arrays(const Layout& layout, std::span<const MutablePart> parts,
                                           std::int64_t element_bytes, const Comm& comm);

/// Returns the parts as mutable ones. Reads and writes share one implementation, and a write never changes them.
std::vector<MutablePart> as_mutable(std::span<const ConstPart> parts);

}  // namespace plait::core
