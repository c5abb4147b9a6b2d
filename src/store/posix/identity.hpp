/// Identities of open files.
#pragma once

#include <cstdint>
#include <string>

#include "store/identity.hpp"

namespace plait::store::posix {

/// The identity (store/identity.hpp), kind and permissions of a file.
struct FileStatus {
  Identity identity;
  std::uint32_t mode = 0;  ///< as `st_mode` of stat()
};

/// Returns the status of an open file. file: its descriptor. display_name: the name in errors.  errors  kSystem.
FileStatus read_file_status(int file, const std::string& display_name);

/// Returns the identity of an open file. display_name: the name in errors.  errors  kSystem.
Identity read_identity(int file, const std::string& display_name);

/// Checks that an open file is the file that had the identity `expected` earlier. display_name: the name in errors.
/// errors  kSystem, ESTALE: it is another file.
void check_not_replaced(int file, const Identity& expected, const std::string& display_name);

}  // namespace plait::store::posix
