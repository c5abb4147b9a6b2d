/// Raw elements: no header.
#pragma once

#include <string>

#include "container/format.hpp"

namespace plait::container::raw {

const Format& format();

/// The content of a file that states nothing, as the caller describes it.
/// errors  kArgument: shape or dtype are missing, or cannot be; a negative offset.
Content stated_content(const std::string& name, const FileOptions& options);

}  // namespace plait::container::raw
