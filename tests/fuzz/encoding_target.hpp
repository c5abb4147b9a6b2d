/// The fuzz target for encoded values that other processes send.
#pragma once

#include <vector>

#include "received.hpp"

namespace plait::fuzz {

/// `encoding`: records of every kind of field.
std::vector<MessageKind> encoding_kinds();

}  // namespace plait::fuzz
