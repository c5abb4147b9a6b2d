/// The functions that bind the parts of the extension module plait._simulation.
#pragma once

#include <nanobind/nanobind.h>

namespace plait::python {

/// Binds replacement policies, and the counting of hits.
void bind_counting(nanobind::module_& module);
/// Binds recordings of traces, and their replays.
void bind_replay(nanobind::module_& module);
/// Binds accesses of many ranks.
void bind_access(nanobind::module_& module);

}  // namespace plait::python
