/// Identities of open files.
#pragma once

#include <string>

#include "store/identity.hpp"

namespace plait::store::posix {

/// Returns the identity of an open file.  errors  kSystem: names `shown`.
Identity identity_of(int file, const std::string& shown);

/// Compares an open file with `expected`, which had the name `shown` before.
/// errors  kSystem, ESTALE: it is another file.
void check_not_replaced(int file, const Identity& expected, const std::string& shown);

}  // namespace plait::store::posix
