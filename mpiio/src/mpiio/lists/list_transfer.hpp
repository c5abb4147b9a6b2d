/// Reads or writes lists of runs of all ranks together.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpiio/lists/host_memory.hpp"
#include "mpiio/lists/run_cursor.hpp"

namespace plait::mpiio {

/// A collective access, with the runs of one rank.
struct ListAccess {
  bool writes = false;
  bool sieves_writes = false;  ///< whether a write may read and write the bytes between small pieces
  /// The range of the file that all ranks access together; empty if they access nothing.
  std::int64_t begin = 0;
  std::int64_t end = 0;
  /// Runs of the file, in ascending order, from the first byte that this rank accesses; nullptr for none.
  const RunCursor* runs = nullptr;
  const HostMemory* memory = nullptr;
};

/// Reads or writes the runs of all ranks. Returns 0, or an errno that is the same on all ranks. Collective.
/// cost  Each rank sends its runs and data only to the ranks that access these parts of the file.
int transfer_lists(const ListAccess& access, int descriptor, MPI_Comm comm);

}  // namespace plait::mpiio
