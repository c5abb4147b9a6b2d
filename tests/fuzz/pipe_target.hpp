/// The fuzz targets for bytes that the other end of a pipe sends.
#pragma once

#include <vector>

#include "received.hpp"

namespace plait::fuzz {

/// `pipe-hello`: bytes on an unauthenticated connection; `pipe-frames`: frames from a reader
/// to a process of the writer; `pipe-answers`: the bodies of that process's answers.
std::vector<MessageKind> pipe_kinds();

}  // namespace plait::fuzz
