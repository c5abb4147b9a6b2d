/// Datatypes of the program, each decoded once.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "mpiio/datatype.hpp"
#include "mpiio/lists/runs.hpp"

namespace plait::mpiio {

/// What Plait knows of a datatype.
/// threads  Several may call the functions at once.
class DecodedType {
 public:
  explicit DecodedType(MPI_Datatype type);

  const ArrayDatatype& array() const { return array_; }
  /// Returns the runs of a datatype; nullptr if they are unknown.
  /// cost  The first call takes time in proportion to the arguments of the calls that made the type.
  Runs runs(MPI_Datatype type);
  std::int64_t bytes() const { return bytes_; }  ///< of the data; -1 if they are unknown
  std::int64_t extent_bytes() const { return extent_bytes_; }

 private:
  ArrayDatatype array_;
  std::int64_t bytes_;
  std::int64_t extent_bytes_;
  std::mutex decoding_;  ///< guards the members below
  bool has_runs_ = false;
  Runs runs_;
};

/// Decodes a datatype; nullptr if the MPI does not communicate with it, as with one that is not committed. If the
/// program uses the type again, the result is stored as an attribute of it.
/// comm  returns errors
std::shared_ptr<DecodedType> find_decoded(MPI_Datatype type, MPI_Comm comm);

}  // namespace plait::mpiio
