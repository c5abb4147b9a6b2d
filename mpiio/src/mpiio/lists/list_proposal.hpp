/// The access by lists that a rank proposes to the others.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "mpiio/entry.h"
#include "mpiio/lists/host_memory.hpp"
#include "mpiio/lists/run_cursor.hpp"
#include "mpiio/reason.hpp"
#include "mpiio/views.hpp"

namespace plait::mpiio {

/// A rank that accesses nothing has no runs and no memory, and accepts any range.
struct ListProposal {
  static constexpr std::int64_t kNoByte = std::numeric_limits<std::int64_t>::max();

  std::int64_t bytes = 0;
  /// The range of the file. The ranks agree on the smallest values of both numbers.
  std::int64_t begin = kNoByte;
  std::int64_t minus_end = kNoByte;
  std::optional<RunCursor> runs;
  std::optional<HostMemory> memory;
};

/// Adds the range and the runs of an access to a proposal that has its bytes. Returns the reason why Plait cannot carry
/// out the access.
/// filetype  the runs of the filetype of the view
/// position  in etypes
Reason complete_proposal(ListProposal& proposal, const plait_mpiio_access& access, const FileView& view,
                         const Runs& filetype, MPI_Offset position);

}  // namespace plait::mpiio
