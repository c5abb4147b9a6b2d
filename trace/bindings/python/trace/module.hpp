/// The functions that bind the parts of the extension module plait._trace.
#pragma once

#include <nanobind/nanobind.h>

namespace plait::python {

/// Binds plait.trace.Kind, Interface and Flag.
void bind_names(nanobind::module_& module);
void bind_traces(nanobind::module_& module);
void bind_reports(nanobind::module_& module);
void bind_workloads(nanobind::module_& module);
void bind_timed_calls(nanobind::module_& module);

}  // namespace plait::python
