/// Local arrays as C programs pass them.
#pragma once

#include <cstdint>
#include <vector>

#include "plait.h"
#include "plait/comm.hpp"
#include "plait/file.hpp"
#include "plait/layout.hpp"

namespace plait::c {

/// The ranks of a layout whose arrays this process holds, ascending.
std::vector<std::int64_t> ranks_held(const Layout& layout, const Comm& comm);

/// The bytes of their dense arrays together, halos included.
std::int64_t bytes_held(const Layout& layout, const std::vector<std::int64_t>& ranks, std::int64_t element_bytes);

/// Dense arrays one behind the other at `data`.  errors  kArgument: `bytes` are too few, `data` is missing.
std::vector<MutablePart> dense_parts(const Layout& layout, const Comm& comm, void* data, std::int64_t bytes,
                                     std::int64_t element_bytes, const char* name);
std::vector<ConstPart> dense_parts(const Layout& layout, const Comm& comm, const void* data, std::int64_t bytes,
                                   std::int64_t element_bytes, const char* name);

/// The caller's own list.  errors  kArgument: no list, a size that its array does not fit.
std::vector<MutablePart> listed_parts(const Layout& layout, const Comm& comm, const plait_part* parts,
                                      std::int64_t count, std::int64_t element_bytes, const char* name);
std::vector<ConstPart> listed_parts(const Layout& layout, const Comm& comm, const plait_const_part* parts,
                                    std::int64_t count, std::int64_t element_bytes, const char* name);

}  // namespace plait::c
