/// What a trace's description says, for the document of a report.
#pragma once

#include <nanobind/nanobind.h>

#include "plait/trace.hpp"

namespace plait::python {

/// As lists and dictionaries; each record of counters with the rank and the name that its
/// numbers stand for, what kind of file that is where it is none of the program's data, and beside such records the
/// processes.
nanobind::dict described(const trace::Description& known);

}  // namespace plait::python
