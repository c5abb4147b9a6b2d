/// The direct strategy: each rank reads or writes its own runs, straight between the store and its array.
#pragma once

#include "engine/access.hpp"

namespace plait::engine {

void read_direct(const Access& access);
void write_direct(const Access& access);

}  // namespace plait::engine
