/// Replaces files, regardless of the drivers to which they belong.
#pragma once

#include <string>

#include "store/posix/replacement.hpp"

namespace plait::driver {

/// Calls FileDriver::release_leftover() of all drivers. Returns true if the temporary file `leftover` may be removed.
bool release_leftover(const std::string& leftover, const std::string& target) noexcept;

/// Gives a new file of any driver its final name. If the replaced file was the description of a store, the files of
/// that store are removed afterwards.
/// errors  kSystem.
void commit(store::posix::Replacement& file);

}  // namespace plait::driver
