// Parts of the document of a report, and functions that make them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "trace/report/report.hpp"

namespace plait::python::reports {

inline double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Converts a file name. Bytes that are not UTF-8 are converted as os.fsdecode does.
nanobind::object to_text(const std::string& bytes);

inline const char* direction_name(int direction) { return direction == trace::report::kReads ? "read" : "write"; }

nanobind::dict timeline_to_dict(const trace::report::Report& report);
nanobind::list cycles_to_list(const trace::report::Report& report);
nanobind::dict ranks_to_dict(const trace::report::Report& report);
nanobind::list offsets_to_list(const trace::report::Report& report);

}  // namespace plait::python::reports
