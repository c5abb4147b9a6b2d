/// The setting that turns locks of HDF5 files off.
#pragma once

namespace plait::container::hdf5 {

/// Returns false if HDF5_USE_FILE_LOCKING turns the locks of the HDF5 library off.
bool uses_file_locks();

}  // namespace plait::container::hdf5
