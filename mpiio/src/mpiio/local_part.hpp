/// The memory of a rank that an access reads or writes.
#pragma once

#include "mpiio/entry.h"
#include "mpiio/shared_array.hpp"
#include "plait/file.hpp"

namespace plait::mpiio {

/// Sets the address and strides of a local array; false if the memory type does not describe one, or if the host cannot
/// read the memory.
bool find_part(const plait_mpiio_access& access, const SharedArray& array, int rank, ConstPart& part);

}  // namespace plait::mpiio
