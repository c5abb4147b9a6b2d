/// How containers refuse what they are asked for.
#pragma once

#include <string>

#include "plait/error.hpp"

namespace plait::container {

/// errors  kArgument: always
[[noreturn]] inline void refuse(const std::string& message) { throw Error(ErrorKind::kArgument, message); }

}  // namespace plait::container
