/// Why an access belongs to the MPI.
#pragma once

#include <cstdint>
#include <string_view>

namespace plait::mpiio {

/// kNone means that Plait carries out the access. Ranks agree on the largest value that any of them has, so kNone must
/// be the smallest.
enum class Reason : std::int64_t {
  kNone,
  kNoGain,    ///< an access that the MPI carries out as fast
  kPartial,   ///< an access to other elements than all those of the view
  kTooShort,  ///< a read past the end of the file
  kMemory,    ///< an unknown memory type, or memory that the host cannot read
  kReplicas,  ///< a write by ranks that share elements
  kView,      ///< views that form no array, of which some have unknown or unordered pieces
  kMode,      ///< atomic access, or a read or write that the access mode forbids
  kStore,     ///< a path or file system that Plait does not open
  kFailed,    ///< Plait cannot carry the access out
  kMissing,   ///< ranks without the library of accesses, or with another mode
};

std::string_view describe(Reason reason);

}  // namespace plait::mpiio
