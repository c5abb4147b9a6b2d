/// How containers refuse what they are asked for.
#pragma once

#include <string>

#include "base/errors.hpp"

namespace plait::container {

/// errors  kArgument: always
[[noreturn]] inline void refuse(const std::string& message) { base::throw_argument_error(message); }

}  // namespace plait::container
