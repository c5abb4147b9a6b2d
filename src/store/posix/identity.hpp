/// Identities of open files.
#pragma once

#include <cstdint>
#include <string>

#include "store/identity.hpp"

namespace plait::store::posix {

/// The identity of a file, and its kind and permissions.
struct FileStatus {
  Identity identity;
  std::uint32_t mode = 0;  ///< as `st_mode` of stat()
};

/// Returns the status of an open file. shown: the name in errors.  errors  kSystem.
FileStatus read_file_status(int file, const std::string& shown);

/// Returns the identity of an open file. shown: the name in errors.  errors  kSystem.
Identity read_identity(int file, const std::string& shown);

/// Checks that an open file has the identity `expected`. shown: the name in errors.
/// errors  kSystem, ESTALE: it is another file.
void check_not_replaced(int file, const Identity& expected, const std::string& shown);

}  // namespace plait::store::posix
