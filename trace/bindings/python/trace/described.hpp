/// The description of a trace, for the document of a report.
#pragma once

#include <nanobind/nanobind.h>

#include "plait/trace.hpp"

namespace plait::python {

/// Converts a description to lists and dictionaries. Each record of counters has the rank and the file name instead of
/// their numbers, and the kind of a file that holds none of the program's data. The processes are listed if there are
/// such records.
nanobind::dict described(const trace::Description& description);

}  // namespace plait::python
