/// The content of a folder.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace plait::base {

/// Returns the names in a folder, in arbitrary order, without `.` and `..`. Sets `error` if the folder cannot be read,
/// otherwise clears it.
/// errors  std::bad_alloc; the iterators of std::filesystem would end the program instead.
std::vector<std::string> names_in(const std::string& folder, std::error_code& error);

}  // namespace plait::base
