/// Functions that throw an Error whose message consists of several parts.
#pragma once

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::base {

/// Reports wrong arguments of a call.  The parts are those of text().  errors  kArgument, always.
template <typename... Parts>
[[noreturn]] void throw_argument_error(const Parts&... parts) {
  throw Error(ErrorKind::kArgument, text(parts...));
}

/// Reports the failure of a file, a disk, the network or a peer; `code` is an errno, or 0 if there is none.  The message
/// is that of the parts alone.  errors  kSystem, always.
template <typename... Parts>
[[noreturn]] void throw_system_error(int code, const Parts&... parts) {
  throw Error(ErrorKind::kSystem, text(parts...), code);
}

}  // namespace plait::base
