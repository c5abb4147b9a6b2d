/// The memory of a rank that an access of arrays reads or writes.
#pragma once

#include <memory>
#include <optional>

#include "mpiio/entry.h"
#include "mpiio/lists/host_memory.hpp"
#include "mpiio/shared_array.hpp"
#include "plait/file.hpp"

namespace plait::mpiio {

/// A local array in the memory of the program, or a copy of it if the memory type has other holes than a subarray.
class LocalPart {
 public:
  /// Finds the local array of a rank. Returns false if the memory type is unknown, if the host cannot read the memory,
  /// or if a copy would be too large.
  /// comm  returns errors
  /// errors  std::bad_alloc: a copy does not fit into memory.
  bool find(const plait_mpiio_access& access, const SharedArray& array, int rank, MPI_Comm comm);

  /// Copies the data of the program before a write, and to the program after a read, if there is a copy.
  void pack();
  void unpack() const;
  ConstPart source() const { return part_; }
  MutablePart target() const { return {const_cast<std::byte*>(part_.data), part_.strides}; }

 private:
  ConstPart part_;
  std::optional<HostMemory> memory_;  ///< if there is a copy
  std::int64_t bytes_ = 0;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace plait::mpiio
