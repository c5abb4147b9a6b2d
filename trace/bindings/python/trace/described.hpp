/// The description of a trace, for the document of a report.
#pragma once

#include <nanobind/nanobind.h>

#include "plait/trace.hpp"

namespace plait::python {

/// Converts a description to lists and dictionaries. Each record of counters has the rank and the file name instead of
/// their numbers, and says of a file with none of the program's data what kind it is, such as a library. Only a trace
/// with such records needs its processes here: in others the events name them.
nanobind::dict describe_trace(const trace::Description& description);

}  // namespace plait::python
