#include "trace/report/time/cycles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "trace/report/time/cycles_follow.hpp"

namespace plait::trace::report {

namespace {

// Periods of a rate by autocorrelation at several resolutions.
//
// Problem: the length of a cycle is anything from a few values to a large part of the trace, and computing the
// correlation for every lag costs the square of the number of values.
//
// Idea: each scale merges two values of the one below, and only the lags from kMinLag to kMaxLag are examined on it.
// The lags with a maximum of the correlation are candidates. match_cycles() confirms a candidate by locating its cycles
// one by one; multiples of a shorter period are removed.
//
// Example: a cycle of 100 values has lag 100 on the first scale, which is above kMaxLag = 64, and lag 50 on the second
// one, where it is found. Its multiples 200 and 300 are found on coarser scales and removed.
//
// The lags examined on each scale, in values of that scale:
constexpr std::size_t kMinLag = 32;
constexpr std::size_t kMaxLag = 64;
constexpr double kMinPeriods = 2.4;  // the values are at least this number of lags long

// The correlation of a cycle exceeds that of noise by this number of standard deviations.
constexpr double kDeviations = 4.5;
constexpr double kMinCorrelation = 0.3;  // minimum correlation of a cycle
constexpr double kMinEvidence = 1.2;     // minimum of correlation times the square root of the number of cycles
constexpr double kMinValleyDepth = 0.2;  // minimum by which the correlation is lower at some shorter lag
// If the correlation at a half, a third, ... of the lag is at least this fraction of that at the lag, the part is the
// period.
constexpr double kFundamental = 0.7;
constexpr double kMinRecognisedShare = 0.7;  // minimum fraction of the cycles that are recognised
constexpr double kSamePeriod = 0.06;         // maximum relative difference of periods that count as equal
// Minimum deviation relative to the mean rate; a smaller one is rounding of a steady rate.
constexpr double kMinDeviation = 1e-3;

// Few long cycles are searched on one scale only, that with at most this number of values and more than half of it.
constexpr std::size_t kFewCyclesValues = 1024;
// The lags searched there fit kFewCyclesMin to kFewCyclesMax times into the values; the last cycle may end with its
// burst.
constexpr double kFewCyclesMin = 2.02;
constexpr double kFewCyclesMax = 8;

struct Candidate {
  double period = 0;  // in values of the finest scale
  double strength = 0;
  CycleMatch match;
  double scale = 1;
};

/// Limits values to twice this quartile of the nonzero ones, so that large bursts do not hide the rest.
std::vector<double> limit_to_quartile(const std::vector<double>& rate, std::size_t quartile) {
  std::vector<double> nonzero;
  for (const double value : rate)
    if (value > 0) nonzero.push_back(value);
  if (nonzero.empty()) return rate;
  const auto bound = nonzero.begin() + static_cast<std::ptrdiff_t>(nonzero.size() * quartile / 4);
  std::nth_element(nonzero.begin(), bound, nonzero.end());
  std::vector<double> result = rate;
  for (double& value : result) value = std::min(value, 2 * *bound);
  return result;
}

std::vector<double> merge_pairs(const std::vector<double>& values) {
  std::vector<double> result(values.size() / 2);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = values[2 * i] + values[2 * i + 1];
  return result;
}

/// Returns for each value the mean of it and `reach` values on both sides, fewer at the ends.
std::vector<double> moving_mean(const std::vector<double>& values, std::size_t reach) {
  std::vector<double> sums(values.size() + 1, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i + 1] = sums[i] + values[i];
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t begin = i > reach ? i - reach : 0;
    const std::size_t end = std::min(i + reach + 1, values.size());
    result[i] = (sums[end] - sums[begin]) / static_cast<double>(end - begin);
  }
  return result;
}

double mean_magnitude(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return sum / static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

/// Smooths the values over about `reach` values, and removes changes that are slower than `lags`.
std::vector<double> smooth_and_detrend(const std::vector<double>& values, std::size_t reach, std::size_t lags) {
  std::vector<double> result = moving_mean(moving_mean(values, reach), reach);
  const std::vector<double> slow = moving_mean(result, lags);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= slow[i];
  return result;
}

/// Returns the position and height of the maximum of the correlations around `lag`, by a parabola.
std::pair<double, double> refine_peak(const std::vector<double>& correlations, std::size_t lag) {
  const double curvature = correlations[lag - 1] - 2 * correlations[lag] + correlations[lag + 1];
  if (curvature >= 0) return {static_cast<double>(lag), correlations[lag]};
  const double offset = std::clamp((correlations[lag - 1] - correlations[lag + 1]) / (2 * curvature), -0.5, 0.5);
  return {static_cast<double>(lag) + offset,
          correlations[lag] - (correlations[lag - 1] - correlations[lag + 1]) * offset / 4};
}

/// True if a part of the lag (a half, a third, ...) is a period already.
bool is_multiple(const std::vector<double>& correlations, double lag, double height) {
  for (int parts = 2; parts <= 8; ++parts) {
    const double part = lag / parts;
    if (part < 6) break;
    const auto nearest_lag = static_cast<std::size_t>(std::lround(part));
    std::size_t highest_lag = nearest_lag;
    for (std::size_t at = nearest_lag - 1; at <= nearest_lag + 1; ++at)
      if (correlations[at] > correlations[highest_lag]) highest_lag = at;
    const double valley = *std::min_element(correlations.begin() + static_cast<std::ptrdiff_t>(nearest_lag / 2),
                                            correlations.begin() + static_cast<std::ptrdiff_t>(nearest_lag));
    if (correlations[highest_lag] >= kFundamental * height && correlations[highest_lag] - valley >= kMinValleyDepth)
      return true;
  }
  return false;
}

/// Examines the lags from..to on one scale. scale: number of values of the finest scale in one of this scale.
void search(const std::vector<double>& values, double scale, std::size_t from, std::size_t to,
            std::vector<Candidate>& candidates) {
  if (to <= from) return;
  const double min_deviation = kMinDeviation * mean_magnitude(values);
  for (const std::size_t reach : {std::size_t{1}, std::size_t{4}}) {
    const std::vector<double> prepared_values = smooth_and_detrend(values, reach, std::max(to, kMaxLag));
    std::vector<double> correlations(to + 2);
    for (std::size_t lag = 1; lag < correlations.size(); ++lag)
      correlations[lag] = correlation(prepared_values, lag, min_deviation);
    correlations[0] = 1;
    const auto smoothed = static_cast<double>(2 * reach + 1);  // about one value in this many is independent
    for (std::size_t lag = from; lag <= to; ++lag) {
      if (correlations[lag] < correlations[lag - 1] || correlations[lag] <= correlations[lag + 1]) continue;
      const auto [period, height] = refine_peak(correlations, lag);
      const double noise = kDeviations * std::sqrt(smoothed / static_cast<double>(prepared_values.size() - lag));
      const double valley = *std::min_element(correlations.begin() + static_cast<std::ptrdiff_t>(lag / 3),
                                              correlations.begin() + static_cast<std::ptrdiff_t>(lag));
      if (height < std::max(kMinCorrelation, noise) || height - valley < kMinValleyDepth) continue;
      if (is_multiple(correlations, period, height)) continue;
      Candidate candidate;
      candidate.match = match_cycles(prepared_values, period);
      const CycleMatch& match = candidate.match;
      if (match.count < 3 || match.recognised_share < kMinRecognisedShare) continue;
      if (height * std::sqrt(static_cast<double>(match.count)) < kMinEvidence) continue;
      if (std::abs(match.period - period) > 0.1 * period) continue;
      candidate.period = match.period * scale;
      candidate.strength = std::min(height, 1.0);
      candidate.scale = scale;
      candidates.push_back(candidate);
    }
  }
}

/// Searches all scales. quartile: limit of the rate on each scale, see limit_to_quartile(); 0: no limit.
std::vector<Candidate> search_all(std::vector<double> values, std::size_t quartile) {
  std::vector<Candidate> candidates;
  double scale = 1;
  while (values.size() >= 2 * kMinLag) {
    const auto lags = [&](double number) {
      return static_cast<std::size_t>(static_cast<double>(values.size()) / number);
    };
    const std::vector<double> level = quartile > 0 ? limit_to_quartile(values, quartile) : values;
    search(level, scale, scale == 1 ? kMinLag / 2 : kMinLag, std::min(kMaxLag, lags(kMinPeriods)), candidates);
    if (values.size() > kFewCyclesValues / 2 && values.size() <= kFewCyclesValues)
      search(level, scale, lags(kFewCyclesMax), lags(kFewCyclesMin), candidates);
    values = merge_pairs(values);
    scale *= 2;
  }
  return candidates;
}

/// Keeps the strongest of the candidates for the same period, and a multiple of a shorter period only if it is clearly
/// stronger.
std::vector<Candidate> remove_duplicates(std::vector<Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.period < b.period; });
  std::vector<Candidate> selected;
  for (const Candidate& candidate : candidates) {
    bool keep = true;
    for (Candidate& other : selected) {
      const double ratio = candidate.period / other.period;
      const double multiple = std::round(ratio);
      if (std::abs(ratio - multiple) > kSamePeriod * multiple) continue;
      if (multiple == 1.0) {
        if (candidate.strength > other.strength) other = candidate;
        keep = false;
        break;
      }
      if (candidate.strength < other.strength + 0.25 * (1.1 - other.strength)) keep = false;
    }
    if (keep) selected.push_back(candidate);
  }
  return selected;
}

/// Removes a cycle: subtracts from each value the median of the values one, two and three periods before and after it.
std::vector<double> subtract_cycle(const std::vector<double>& rate, double period) {
  std::vector<double> result(rate.size());
  std::vector<double> neighbours;
  const auto size = static_cast<std::int64_t>(rate.size());
  for (std::int64_t i = 0; i < size; ++i) {
    neighbours.clear();
    for (const int cycles : {-3, -2, -1, 1, 2, 3}) {
      const std::int64_t index = i + std::llround(cycles * period);
      if (index >= 0 && index < size) neighbours.push_back(rate[static_cast<std::size_t>(index)]);
    }
    const auto middle = neighbours.begin() + static_cast<std::ptrdiff_t>(neighbours.size() / 2);
    std::nth_element(neighbours.begin(), middle, neighbours.end());
    result[static_cast<std::size_t>(i)] = rate[static_cast<std::size_t>(i)] - (neighbours.empty() ? 0.0 : *middle);
  }
  return result;
}

double variance(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(values.size(), 1));
  return squares / count - sum / count * (sum / count);
}

Cycle make_cycle(const Candidate& candidate, const std::vector<double>& rate, double width) {
  const double unit = candidate.scale * width;
  Cycle cycle;
  cycle.period = candidate.period * width;
  cycle.strength = candidate.strength;
  cycle.regularity = candidate.match.regularity;
  cycle.count = candidate.match.count;
  const double end = static_cast<double>(rate.size()) * width;
  cycle.first = std::max(candidate.match.first * unit, 0.0);
  cycle.last = std::min(candidate.match.last * unit, end);
  const double stop = std::min(cycle.last + cycle.period, end);
  for (std::size_t i = 0; i < rate.size(); ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * width;
    if (middle >= cycle.first && middle < stop) cycle.bytes += rate[i];
  }
  cycle.bytes /= static_cast<double>(cycle.count);
  return cycle;
}

}  // namespace

std::vector<Cycle> find_cycles(const std::vector<double>& rate, double width) {
  if (variance(rate) <= 0) return {};
  std::vector<Candidate> candidates = remove_duplicates(search_all(rate, 3));
  if (candidates.empty()) candidates = remove_duplicates(search_all(rate, 1));
  const std::size_t direct = candidates.size();
  for (std::size_t at = 0; at < direct; ++at) {
    const std::vector<double> remainder = subtract_cycle(rate, candidates[at].period);
    const double share = std::min(variance(remainder) / variance(rate), 1.0);
    for (Candidate& longer : remove_duplicates(search_all(remainder, 0))) {
      longer.strength *= share;
      bool is_known = longer.period < 1.8 * candidates[at].period || longer.strength < 0.02;
      for (const Candidate& other : candidates)
        is_known = is_known || std::abs(longer.period / other.period - 1) < kSamePeriod;
      if (!is_known) candidates.push_back(longer);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.strength > b.strength; });
  std::vector<Cycle> cycles;
  for (const Candidate& candidate : candidates) cycles.push_back(make_cycle(candidate, rate, width));
  return cycles;
}

}  // namespace plait::trace::report
