/// What lies in a folder.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace plait::base {

/// The names in a folder, in no order, without those of the folder itself and the one above.  error: why it could not
/// be read, or cleared.
/// errors  std::bad_alloc, where std::filesystem's iterators would end the program.
std::vector<std::string> names_in(const std::string& folder, std::error_code& error);

}  // namespace plait::base
