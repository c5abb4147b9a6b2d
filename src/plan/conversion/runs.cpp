#include "plan/conversion/runs.hpp"

namespace plait::plan {

std::int64_t take_run(Nest& nest, std::int64_t unit) {
  std::int64_t run = unit;
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
