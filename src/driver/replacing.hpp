/// Files that are replaced, whichever driver has made them.
#pragma once

#include <string>

#include "store/posix/replacement.hpp"

namespace plait::driver {

/// Asks all drivers whether a file that a killed process left behind may be removed, which remove what it lists.
bool clear(const std::string& left_behind, const std::string& target) noexcept;

/// Gives a new file of any kind its final name.  Where that was a file that stood for others, those go afterwards.
/// errors  kSystem.
void commit(store::posix::Replacement& file);

}  // namespace plait::driver
