/// The error for encoded bytes that cannot be decoded.
#pragma once

#include <cerrno>
#include <string>

#include "base/errors.hpp"

namespace plait::codec {

/// Throws the error. what: the name of the encoded bytes, such as `the chunk a.zarr/c/0`. reason: a clause about them.
/// errors  kSystem, EIO: always.
template <typename... Parts>
[[noreturn]] void throw_damaged(const std::string& what, const Parts&... reason) {
  base::throw_system_error(EIO, "cannot read ", what, ": ", reason..., "; copy or download it again");
}

}  // namespace plait::codec
