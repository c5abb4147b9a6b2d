/// The fuzz targets for bytes that the other end of a pipe sends.
#pragma once

#include <vector>

#include "received.hpp"

namespace plait::fuzz {

/// `pipe-hello`: what a stranger sends; `pipe-frames`: what a reader sends to a process of the writer; `pipe-answers`:
/// what that answers.
std::vector<MessageKind> received_by_pipes();

}  // namespace plait::fuzz
