/// The parts of the extension module.
#pragma once

#include <nanobind/nanobind.h>

namespace plait::python {

void bind_index_set(nanobind::module_& module);
void bind_layout(nanobind::module_& module);
void bind_conversion(nanobind::module_& module);
void bind_bits(nanobind::module_& module);
void bind_file(nanobind::module_& module);
void bind_redistribute(nanobind::module_& module);
void bind_stream(nanobind::module_& module);
void bind_trace(nanobind::module_& module);
void bind_trace_report(nanobind::module_& module);
void bind_trace_workloads(nanobind::module_& module);
void bind_trace_loop(nanobind::module_& module);
void bind_distant(nanobind::module_& module);

}  // namespace plait::python
