/// Redistribution: arrays in memory from one layout into another.
#pragma once

#include <span>
#include <string>

#include "plait/comm.hpp"
#include "plait/file.hpp"
#include "plait/layout.hpp"

namespace plait {

/// Copies the elements of the source parts into the target parts.  With an MPI Comm each process passes its own part of
/// either layout, and both have as many ranks as the Comm; alone a process passes the parts of all ranks of each.
/// Collective.
/// cost    At most `memory_bytes` of staging a process (0: 32 MiB), none in a process that is alone.
/// errors  kArgument on every rank: different shapes, layouts for another number of ranks, too little memory, calls
/// that
///         differ between ranks; `element_name`, a type's name, is compared as well.
/// pre     Source and target parts do not overlap.
void redistribute(const Layout& source, std::span<const ConstPart> source_parts, const Layout& target,
                  std::span<const MutablePart> target_parts, std::int64_t element_bytes, const Comm& comm = {},
                  std::int64_t memory_bytes = 0, const std::string& element_name = {});

}  // namespace plait
