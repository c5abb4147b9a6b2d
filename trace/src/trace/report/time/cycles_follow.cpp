#include "trace/report/time/cycles_follow.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace plait::trace::report {

namespace {

/// Returns the correlation of the pattern with the values from `at` on.
double pattern_correlation(const std::vector<double>& pattern, const double* at) {
  const auto count = static_cast<double>(pattern.size());
  double a = 0;
  double b = 0;
  double aa = 0;
  double bb = 0;
  double ab = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    a += pattern[i];
    b += at[i];
    aa += pattern[i] * pattern[i];
    bb += at[i] * at[i];
    ab += pattern[i] * at[i];
  }
  const double spread = (aa - a * a / count) * (bb - b * b / count);
  return spread > 1e-12 * aa * bb ? (ab - a * b / count) / std::sqrt(spread) : 0.0;
}

constexpr double kMinCorrelation = 0.4;

/// Returns the begin of each cycle in one direction from a known one; NaN if it was not recognised.
std::vector<double> locate_cycles(const std::vector<double>& padded, std::vector<double> pattern, double from,
                                  double advance, double period) {
  std::vector<double> positions;
  const auto length = static_cast<std::int64_t>(pattern.size());
  const auto limit = static_cast<std::int64_t>(padded.size()) - length;
  double at = from;
  while (true) {
    const double expected = at + advance;
    const auto begin = std::max<std::int64_t>(std::llround(expected - period / 4), 0);
    const auto end = std::min<std::int64_t>(std::llround(expected + period / 4), limit);
    if (begin > end) break;
    double best = -2;
    std::int64_t best_position = begin;
    std::vector<double> correlations;
    for (std::int64_t position = begin; position <= end; ++position) {
      correlations.push_back(pattern_correlation(pattern, &padded[static_cast<std::size_t>(position)]));
      if (correlations.back() > best) {
        best = correlations.back();
        best_position = position;
      }
    }
    // At an end the best position may be the last one. The cycle is then truncated and does not count.
    if ((best_position == limit && expected + period / 4 > static_cast<double>(limit)) ||
        (best_position == 0 && expected < period / 4))
      break;
    if (best < kMinCorrelation) {
      positions.push_back(std::nan(""));
      at = expected;
      continue;
    }
    double fraction = 0;
    const auto middle = static_cast<std::size_t>(best_position - begin);
    if (middle > 0 && middle + 1 < correlations.size()) {
      const double curvature = correlations[middle - 1] - 2 * correlations[middle] + correlations[middle + 1];
      if (curvature < 0)
        fraction = std::clamp((correlations[middle - 1] - correlations[middle + 1]) / (2 * curvature), -0.5, 0.5);
    }
    at = static_cast<double>(best_position) + fraction;
    positions.push_back(at);
    for (std::size_t i = 0; i < pattern.size(); ++i)  // the pattern may change slowly
      pattern[i] = 0.7 * pattern[i] + 0.3 * padded[static_cast<std::size_t>(best_position) + i];
  }
  return positions;
}

/// Returns the begin of a cycle: a little before the steepest rise in the `length` values from `at` on.
std::size_t cycle_begin(const std::vector<double>& padded, std::size_t at, std::size_t length) {
  const std::size_t reach = std::max<std::size_t>(length / 8, 1);
  const auto value = [&](std::size_t i) { return padded[at + i % length]; };
  double max_rise = -1;
  std::size_t position = 0;
  for (std::size_t i = 0; i < length; ++i) {
    double rise = 0;
    for (std::size_t j = 0; j < reach; ++j) rise += value(i + j) - value(i + length - 1 - j);
    if (rise > max_rise) {
      max_rise = rise;
      position = i;
    }
  }
  position += at;
  const std::size_t lead = length / 16;
  if (position + length > padded.size()) position -= std::min(length, position);
  return position - std::min(lead, position);
}

}  // namespace

double correlation(const std::vector<double>& values, std::size_t lag, double min_deviation) {
  if (lag + 2 > values.size()) return 0;
  const std::size_t count = values.size() - lag;
  double a = 0;
  double b = 0;
  double aa = 0;
  double bb = 0;
  double ab = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = values[i];
    const double y = values[i + lag];
    a += x;
    b += y;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  const auto n = static_cast<double>(count);
  const double variation_x = aa - a * a / n;
  const double variation_y = bb - b * b / n;
  if (std::min(variation_x, variation_y) < min_deviation * min_deviation * n) return 0;
  const double spread = variation_x * variation_y;
  return spread > 1e-12 * aa * bb ? (ab - a * b / n) / std::sqrt(spread) : 0.0;
}

CycleMatch match_cycles(const std::vector<double>& values, double period) {
  CycleMatch result;
  const auto length = static_cast<std::size_t>(std::lround(period));
  const std::size_t margin = length / 4;  // precedes a burst at the very start
  if (length < 4 || values.size() < 2 * length) return result;
  // The last cycle may end with its burst.
  std::vector<double> padded(margin + values.size() + length, 0.0);
  std::copy(values.begin(), values.end(), padded.begin() + static_cast<std::ptrdiff_t>(margin));

  // Sum over one period of the products of each value with the value one period later, for all positions.
  double sum = 0;
  double best = -1;
  std::size_t anchor = 0;
  const auto product = [&](std::size_t at) { return padded[at] * padded[at + length]; };
  for (std::size_t at = 0; at + length < padded.size(); ++at) {
    sum += product(at);
    if (at >= length) sum -= product(at - length);
    if (at + 1 >= length && sum > best) {
      best = sum;
      anchor = at + 1 - length;
    }
  }
  anchor = cycle_begin(padded, anchor, length);
  const std::vector<double> pattern(padded.begin() + static_cast<std::ptrdiff_t>(anchor),
                                    padded.begin() + static_cast<std::ptrdiff_t>(anchor + length));
  const auto start = static_cast<double>(anchor);
  std::vector<double> positions = locate_cycles(padded, pattern, start, -period, period);
  std::reverse(positions.begin(), positions.end());
  positions.push_back(start);
  const std::vector<double> right = locate_cycles(padded, pattern, start, period, period);
  positions.insert(positions.end(), right.begin(), right.end());

  const auto is_recognised = [](double position) { return !std::isnan(position); };
  const auto first = std::find_if(positions.begin(), positions.end(), is_recognised);
  const auto last = std::find_if(positions.rbegin(), positions.rend(), is_recognised).base() - 1;
  const auto intervals = last - first;
  if (intervals < 1) return result;
  const auto recognised = static_cast<double>(std::count_if(first, last + 1, is_recognised));
  result.count = static_cast<long>(intervals) + 1;
  result.recognised_share = recognised / static_cast<double>(result.count);
  result.period = (*last - *first) / static_cast<double>(intervals);
  result.first = *first - static_cast<double>(margin);
  result.last = *last - static_cast<double>(margin);
  double squares = 0;
  double pairs = 0;
  for (auto position = first; position < last; ++position) {
    if (!is_recognised(*position) || !is_recognised(*(position + 1))) continue;
    const double deviation = *(position + 1) - *position - result.period;
    squares += deviation * deviation;
    ++pairs;
  }
  result.regularity = pairs > 0 ? std::max(0.0, 1.0 - std::sqrt(squares / pairs) / result.period) : 0.0;
  return result;
}

}  // namespace plait::trace::report
