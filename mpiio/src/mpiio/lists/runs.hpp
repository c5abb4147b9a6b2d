/// The contiguous runs of bytes that a datatype selects, in a compact form.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpiio/datatype.hpp"

namespace plait::mpiio {

struct RunNode;
/// Runs are shared by the types that contain them, and never change.
using Runs = std::shared_ptr<const RunNode>;

/// A node of the tree that says which runs a datatype has. Runs are in the order of the data, offsets are in bytes.
struct RunNode {
  enum class Kind : std::uint8_t {
    kList,    ///< runs at `offsets`, of which run i has the bytes from positions[i] to positions[i + 1] of the data
    kRepeat,  ///< `count` times the only child, at a distance of `stride`
    kGroup    ///< children at `offsets`; the data of child i begins at positions[i]
  };
  Kind kind = Kind::kList;
  std::int64_t bytes = 0;    ///< of the data
  std::int64_t runs = 0;     ///< number of runs; those that adjoin across nodes count twice
  std::int64_t begin = 0;    ///< of the first run
  std::int64_t end = 0;      ///< of the last run
  bool is_ascending = true;  ///< each run begins at the end of the previous one, or after it
  std::int64_t count = 0;    ///< of kRepeat
  std::int64_t stride = 0;   ///< of kRepeat
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> positions;
  std::vector<Runs> children;
};

/// Decodes the runs of a datatype by the calls that made it; nullptr if they are unknown.
/// cost  Proportional to the arguments of these calls, not to the number of runs.
Runs decode_runs(MPI_Datatype type);

/// Returns the runs of a datatype that is an array or a part of one; nullptr for std::monostate.
Runs make_runs(const ArrayDatatype& type);

/// Repeats a datatype at a distance of so many bytes; nullptr if the runs end past 2^62 bytes.
Runs repeat_runs(const Runs& runs, std::int64_t count, std::int64_t stride);

}  // namespace plait::mpiio
