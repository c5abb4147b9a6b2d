// The extension module plait._simulation: caches and their policies, replays, accesses.
#include "module.hpp"

namespace nb = nanobind;

NB_MODULE(_simulation, module) {
  module.doc() = "Compiled core of Plait's simulation; use the package plait.simulate.";
  nb::module_::import_("plait._core");  // defines the errors of both modules
  plait::python::bind_counting(module);
  plait::python::bind_replay(module);
  plait::python::bind_access(module);
}
