// Reading the environment variable of the HDF5 library that controls its locks.

#include "container/hdf5/changing/file_locking.hpp"

#include <cstdlib>
#include <string_view>

namespace plait::container::hdf5 {

bool uses_file_locks() {
  const char* const locking = std::getenv("HDF5_USE_FILE_LOCKING");
  return locking == nullptr || (std::string_view(locking) != "FALSE" && std::string_view(locking) != "0");
}

}  // namespace plait::container::hdf5
