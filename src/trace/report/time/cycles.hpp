/// Cycles in a rate over time (section 5.3).
#pragma once

#include <vector>

#include "trace/report/report.hpp"

namespace plait::trace::report {

/// Finds what comes again and again, the strongest first; `rate` holds the bytes of each stretch of `width` ns.  Cycles
/// are between 3 and some 500 in number; a steady rate, noise, a trend or a single burst has none.
/// How: the rate, smoothed and without its slow changes, is compared with itself a lag later, at resolutions between
/// 1/32 and 1/64 of the lag.  A lag at which they are most alike is followed from cycle to cycle through the trace; the
/// distances found so are the period.  What is left without the cycles found is searched for longer ones.
/// cost    some hundred operations a value.
std::vector<Cycle> find_cycles(const std::vector<double>& rate, double width);

}  // namespace plait::trace::report
