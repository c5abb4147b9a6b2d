/// Functions for formats whose files hold several arrays, each under a name.
#pragma once

#include <string>
#include <vector>

#include "container/content.hpp"
#include "plait/file_options.hpp"

namespace plait::container {

/// Returns the array that a name, `FILE::NAME` or `FILE`, refers to.
/// errors  kArgument: no array has that name; the name does not name an array although there are several, which the
///         message lists; the array cannot be opened.
const Member& chosen(const std::vector<Member>& members, const std::string& path);

/// Returns the name of the array in the name of a new file, or `unnamed`.  errors  kArgument: the name is empty.
std::string new_array_name(const std::string& path, const std::string& unnamed);

/// Returns the arrays of a new file: those of `options`, or the one that they and `path` describe.
/// errors  kArgument: the description of an array is invalid, or two arrays have the same name.
std::vector<Member> make_new_members(const std::string& path, const FileOptions& options, const std::string& unnamed);

/// Returns the arrays that a name refers to, among all those in a file: the one that it names, or all.
/// errors  Those of chosen().
std::vector<Member> named(std::vector<Member> members, const std::string& path);

}  // namespace plait::container
