// The extension module plait._trace: reading and writing traces, reports, and workloads.
#include "module.hpp"

namespace nb = nanobind;

NB_MODULE(_trace, module) {
  module.doc() = "Compiled core of Plait's traces; use the package plait.trace.";
  nb::module_::import_("plait._core");  // defines the errors of both modules
  plait::python::bind_names(module);
  plait::python::bind_traces(module);
  plait::python::bind_reports(module);
  plait::python::bind_workloads(module);
  plait::python::bind_timed_calls(module);
}
