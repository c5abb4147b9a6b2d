/// Replaces files, regardless of the drivers to which they belong.
#pragma once

#include <string>

#include "store/posix/replacement.hpp"

namespace plait::driver {

/// Calls FileDriver::clear() of all drivers. Returns true if the file of a killed process may be removed.
bool clear(const std::string& leftover, const std::string& target) noexcept;

/// Gives a new file of any kind its final name. If the replaced file was the description of a store, the files of that
/// store are removed afterwards.
/// errors  kSystem.
void commit(store::posix::Replacement& file);

}  // namespace plait::driver
