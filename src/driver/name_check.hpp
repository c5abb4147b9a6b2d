/// Names of files: what of them Plait takes.
#pragma once

#include <string>

namespace plait::driver {

/// Checks a name before anything is looked for or made under it.
/// is_new: whether a file is to be made.
/// errors  kArgument: a URL of an unknown object store, an unknown prefix, or in a new name the suffix of a format that Plait does not write.  The
/// text lists the valid names, and states how to write the name of an ordinary file.
void check_name(const std::string& name, bool is_new);

}  // namespace plait::driver
