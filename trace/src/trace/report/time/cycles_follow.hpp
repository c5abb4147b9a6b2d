/// Tracking of a cycle through a rate.
#pragma once

#include <cstddef>
#include <vector>

namespace plait::trace::report {

struct CycleMatch {
  double period = 0;            ///< in values
  double regularity = 0;        ///< 1 - relative deviation of the distances
  double recognised_share = 0;  ///< fraction of the cycles from the first to the last that were recognised
  long count = 0;               ///< number of cycles from the first to the last recognised one
  double first = 0;             ///< begin of the first cycle
  double last = 0;              ///< begin of the last cycle
};

/// Finds the interval of about `period` values that correlates best with the next one, and then its repetitions
/// before and after, within a quarter of a period of their expected positions.
CycleMatch match_cycles(const std::vector<double>& values, double period);

/// Returns Pearson's correlation of the values with themselves `lag` later; 0 if one of both is constant, or deviates
/// by less than `min_deviation`.
double correlation(const std::vector<double>& values, std::size_t lag, double min_deviation);

}  // namespace plait::trace::report
