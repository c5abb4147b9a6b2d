/// The table entry of Plait's own trace format.
#pragma once

#include "trace/formats/registry.hpp"

namespace plait::trace::binary {

Format format();

}  // namespace plait::trace::binary
