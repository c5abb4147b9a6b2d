/// The functions that bind the parts of the extension module plait._simulation.
#pragma once

#include <nanobind/nanobind.h>

namespace plait::python {

/// Binds replacement policies, and the counting of hits.
void bind_counting(nanobind::module_& module);
/// Binds recordings of traces, and the replays that run them on a simulated machine.
void bind_replay(nanobind::module_& module);
/// Binds simulated accesses of many ranks.
void bind_access(nanobind::module_& module);

}  // namespace plait::python
