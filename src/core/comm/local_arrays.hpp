/// Local arrays as callers give them, and what is done with them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copy/local_array.hpp"
#include "plait/comm.hpp"
#include "plait/file.hpp"

namespace plait::core {

/// errors  kArgument: the layout has ranks beyond the Comm.
void check_ranks(const Layout& layout, const Comm& comm);

/// The ranks of a layout whose arrays this process holds, ascending: all where it is alone, else its own if it has one.
std::vector<std::int64_t> ranks_held(const Layout& layout, const Comm& comm);

/// Threads that a process which is alone moves so many elements with.
int useful_threads(std::int64_t elements, std::int64_t element_bytes);

/// Checks the ranks, and that the parts are as many as this process holds, and turns them into arrays with steps for every dimension.
std::vector<copy::LocalArray> local_arrays(const Layout& layout, std::span<const MutablePart> parts,
                                           std::int64_t element_bytes, const Comm& comm);

/// The same parts; one path serves reads and writes, and a write never changes them.
std::vector<MutablePart> as_mutable(std::span<const ConstPart> parts);

}  // namespace plait::core
