/// Whether programs lock HDF5 files that they open.
#pragma once

namespace plait::container::hdf5 {

/// False if HDF5_USE_FILE_LOCKING turns the locks of HDF5's library off.
bool uses_file_locks();

}  // namespace plait::container::hdf5
