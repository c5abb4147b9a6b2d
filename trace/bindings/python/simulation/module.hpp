/// The parts of the extension module plait._simulation.
#pragma once

#include <nanobind/nanobind.h>

namespace plait::python {

/// Replacement policies, and the counting of hits.
void bind_counting(nanobind::module_& module);
/// Recordings of traces, and their replays.
void bind_replay(nanobind::module_& module);
/// Accesses of many ranks.
void bind_access(nanobind::module_& module);

}  // namespace plait::python
