/// Restriction of a trace to an interval of time.
#pragma once

#include <cstdint>
#include <memory>

#include "plait/trace.hpp"

namespace plait::trace {

/// Returns the events that start in [begin, end), in ns since the trace's zero; an end of INT64_MAX means no end. Of
/// a binary trace, only chunks with such events are read; of other formats, everything before as well. The
/// description is that of the whole trace.
std::unique_ptr<Reader> between(std::unique_ptr<Reader> reader, std::int64_t begin, std::int64_t end);

}  // namespace plait::trace
