/// Plait's own format of traces, as the table of formats has it.
#pragma once

#include "trace/formats/registry.hpp"

namespace plait::trace::binary {

Format format();

}  // namespace plait::trace::binary
