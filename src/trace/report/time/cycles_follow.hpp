/// Following a cycle through a rate.
#pragma once

#include <cstddef>
#include <vector>

namespace plait::trace::report {

struct Followed {
  double period = 0;      ///< values
  double regularity = 0;  ///< 1 - relative deviation of the distances
  double found = 0;       ///< share of the cycles from the first to the last that were recognised
  long count = 0;         ///< of cycles from the first to the last recognised
  double first = 0;       ///< where the first begins
  double last = 0;        ///< where the last begins
};

/// Looks for the stretch of about `period` values that is most like the next one, and then for what is like it, before
/// and behind, within a quarter of a period of where it is expected.
Followed follow(const std::vector<double>& values, double period);

/// Pearson's correlation of the values with themselves `lag` later; 0 where one of both is constant,
/// or deviates by less than `least`.
double correlation(const std::vector<double>& values, std::size_t lag, double least);

}  // namespace plait::trace::report
