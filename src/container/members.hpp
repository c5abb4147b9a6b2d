/// Formats whose files hold several arrays, each under a name.
#pragma once

#include <string>
#include <vector>

#include "container/content.hpp"
#include "plait/file_options.hpp"

namespace plait::container {

/// The one that a name, `FILE::NAME` or `FILE`, stands for.
/// errors  kArgument: there is none of that name, or several where none is named, and which there are; one that cannot
///         be opened, and why.
const Member& chosen(const std::vector<Member>& members, const std::string& path);

/// The array that `path` names in a new file, or `unnamed`.  errors  kArgument: an empty name, or none that is UTF-8.
std::string name_of_new(const std::string& path, const std::string& unnamed);

/// What is to be in a new file: the arrays of `options`, or the one that they and `path` describe.
/// errors  kArgument: arrays that cannot be, or two of one name.
std::vector<Member> members_of_new(const std::string& path, const FileOptions& options, const std::string& unnamed);

/// The arrays that a name stands for, of all those in a file: the one that it names, or all.  errors  As chosen().
std::vector<Member> named(std::vector<Member> members, const std::string& path);

}  // namespace plait::container
