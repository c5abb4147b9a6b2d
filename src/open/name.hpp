/// Names of files: what of them Plait takes.
#pragma once

#include <string>

namespace plait::open {

/// Checks a name before anything is looked for or made under it.
/// is_new: whether a file is to be made.
/// errors  kArgument: a URL, a scheme that is not known, in a new name the suffix of a format that Plait does not write;
///         says which names there are, and how an ordinary file of that name is meant.
void check_name(const std::string& name, bool is_new);

}  // namespace plait::open
