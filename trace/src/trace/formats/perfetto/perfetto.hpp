/// Traces for ui.perfetto.dev and chrome://tracing: the JSON trace event format.
#pragma once

#include "trace/formats/registry.hpp"

namespace plait::trace {

/// Format "perfetto", suffix ".json"; only written.
extern const Format kPerfetto;

}  // namespace plait::trace
