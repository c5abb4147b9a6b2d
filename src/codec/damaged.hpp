/// The error for encoded bytes that cannot be decoded.
#pragma once

#include <cerrno>
#include <string>

#include "base/errors.hpp"

namespace plait::codec {

/// Throws the error; `reason` is a clause about the encoded bytes, which `what` names.
/// errors  kSystem, EIO: always.
template <typename... Parts>
[[noreturn]] void damaged(const std::string& what, const Parts&... reason) {
  base::throw_system_error(EIO, "cannot read ", what, ": ", reason..., "; copy or download it again");
}

}  // namespace plait::codec
