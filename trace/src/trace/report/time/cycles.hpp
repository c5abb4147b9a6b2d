/// Cycles in a rate over time (section 5.3).
#pragma once

#include <vector>

#include "trace/report/report.hpp"

namespace plait::trace::report {

/// Finds cycles, the strongest first. `rate` contains the bytes of each interval of `width` ns. Cycles are between 3
/// and about 500 in number; a steady rate, noise, a trend or a single burst has none.
///
/// Method: the rate, smoothed and without its slow changes, is correlated with itself a lag later, at resolutions
/// between 1/32 and 1/64 of the lag. A lag of maximum correlation is followed from cycle to cycle through the trace,
/// and the distances of the cycles give the period. The rate without the cycles found is searched for longer ones.
/// cost    some hundred operations a value.
std::vector<Cycle> find_cycles(const std::vector<double>& rate, double width);

}  // namespace plait::trace::report
