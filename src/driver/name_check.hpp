/// Checks of the names of files.
#pragma once

#include <string>

namespace plait::driver {

/// Checks a name before any file is searched or created under it.
/// is_new: True if a file is to be created.
/// errors  kArgument: a URL of an unknown object store, an unknown prefix, or, in a new name, the suffix of a format
///         that Plait does not write.  The message lists the valid names, and how to write the name of an ordinary
///         file.
void check_name(const std::string& name, bool is_new);

}  // namespace plait::driver
