/// Functions for formats whose files hold several arrays, each under a name.
#pragma once

#include <string>
#include <vector>

#include "container/content.hpp"
#include "plait/file_options.hpp"

namespace plait::container {

/// Returns the array that a name, `FILE::NAME` or `FILE`, refers to; `FILE` refers to the only array of the file.
/// errors  kArgument: no array has that name; the name is only that of a file with several arrays, which the message
///         lists; the array cannot be opened.
const Member& find_member(const std::vector<Member>& members, const std::string& path);

/// Returns NAME of a new file's name `FILE::NAME`, or `default_name` if the name has no `::`.
/// errors  kArgument: NAME is empty.
std::string new_array_name(const std::string& path, const std::string& default_name);

/// Returns the arrays of a new file: those of `options.arrays`, or, if it is empty, the single array that `options` and
/// `path` describe.  default_name: see new_array_name().
/// errors  kArgument: the description of an array is invalid, or two arrays have the same name.
std::vector<Member> make_new_members(const std::string& path, const FileOptions& options,
                                     const std::string& default_name);

/// Returns the arrays that a name refers to: the one array that `FILE::NAME` names, or all arrays for `FILE`.
/// errors  Those of find_member().
std::vector<Member> select_members(std::vector<Member> members, const std::string& path);

}  // namespace plait::container
