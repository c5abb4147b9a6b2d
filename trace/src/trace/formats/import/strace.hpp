/// The output of strace.
#pragma once

#include "trace/formats/registry.hpp"

namespace plait::trace {

/// "strace": with or without -f, -t to -ttt, -r, -T, -y, -yy.
Format strace_format();

}  // namespace plait::trace
