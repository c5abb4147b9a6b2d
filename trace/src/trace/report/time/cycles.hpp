/// Cycles in a rate over time (Miller 1992, section 5.3).
#pragma once

#include <vector>

#include "trace/report/report.hpp"

namespace plait::trace::report {

/// Finds cycles, the strongest first. `rate` contains the bytes of each interval of `width` ns. The function detects
/// periods that repeat 3 to about 500 times; a steady rate, noise, a trend or a single burst has none.
///
/// Method: the rate is smoothed, detrended and autocorrelated, at a resolution at which the lag has 32 to 64 intervals.
/// Each lag of maximum correlation is confirmed by locating its cycles, whose distances give the period. The cycles
/// found are subtracted, and the search repeats for longer periods.
/// cost    A few hundred operations per value.
std::vector<Cycle> find_cycles(const std::vector<double>& rate, double width);

}  // namespace plait::trace::report
