/// The error for encoded bytes that cannot be decoded.
#pragma once

#include <cerrno>
#include <string>

#include "base/errors.hpp"

namespace plait::codec {

template <typename... Parts>
[[noreturn]] void damaged(const std::string& what, const Parts&... why) {
  base::throw_system_error(EIO, "cannot read ", what, ": ", why..., "; copy or download it again");
}

}  // namespace plait::codec
