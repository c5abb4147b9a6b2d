/// The direct strategy: each rank reads or writes its own runs, straight between the store and its array.
#pragma once

#include "access/access.hpp"

namespace plait::access {

std::unique_ptr<Move> make_direct_read(const Access& access);
std::unique_ptr<Move> make_direct_write(const Access& access);

}  // namespace plait::access
