/// The direct strategy: each rank transfers its own runs between the store and its local array, without windows.
#pragma once

#include "access/access.hpp"

namespace plait::access {

std::unique_ptr<Move> make_direct_read(const Access& access);
std::unique_ptr<Move> make_direct_write(const Access& access);

}  // namespace plait::access
