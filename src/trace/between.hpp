/// A stretch of time of a trace.
#pragma once

#include <cstdint>
#include <memory>

#include "plait/trace.hpp"

namespace plait::trace {

/// The events that start in [begin, end), ns since the trace's zero; an end of INT64_MAX is none.  Of a binary trace
/// only the chunks that hold any are read; of another format all that comes before as well.  The description is that of
/// the whole trace.
std::unique_ptr<Reader> between(std::unique_ptr<Reader> reader, std::int64_t begin, std::int64_t end);

}  // namespace plait::trace
