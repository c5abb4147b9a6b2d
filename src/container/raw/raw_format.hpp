/// Raw elements without a header.
#pragma once

#include <string>

#include "container/format.hpp"

namespace plait::container::raw {

const Format& format();

/// Returns the content of a file that does not describe itself, from the options of the caller.
/// errors  kArgument: shape or dtype are missing or impossible; the offset is negative.
Content stated_content(const std::string& name, const FileOptions& options);

}  // namespace plait::container::raw
