/// The errors of packed bytes that cannot be unpacked.
#pragma once

#include <cerrno>
#include <string>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::codec {

template <typename... Parts>
[[noreturn]] void damaged(const std::string& what, const Parts&... why) {
  throw Error(ErrorKind::kSystem, base::text("cannot read ", what, ": ", why..., "; copy or download it again"), EIO);
}

}  // namespace plait::codec
