// Finds the contiguous run of a nest of loops.

#include "plan/conversion/runs.hpp"

namespace plait::plan {

std::int64_t take_run(Nest& nest, std::int64_t unit) {
  std::int64_t run = unit;
  // A loop that lengthens the run may let another one continue it, so the search starts again after each loop.
  for (bool found = true; found;) {
    found = false;
    for (std::size_t i = 0; i < nest.loops.size(); ++i) {
      if (nest.loops[i].a_stride != run || nest.loops[i].b_stride != run) continue;
      run *= nest.loops[i].count;
      nest.loops.erase(nest.loops.begin() + static_cast<std::ptrdiff_t>(i));
      found = true;
      break;
    }
  }
  return run;
}

}  // namespace plait::plan
