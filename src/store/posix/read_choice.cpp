// Choosing a path by measurements.
//
// Example: the first 8 requests alternate, 4 (kTrials) for each path. Then the better path gets 32 requests, the other
// path 1, the better path 64, the other path 1, and so on up to 1,024 between two trials. If the other path becomes the
// better one, the interval starts again with 32. The cost of a path is a moving average in which the newest request has
// a weight of 1/4, so that after 8 requests 10 % of an old value remain (0.75^8).

#include "store/posix/read_choice.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace plait::store::posix {

namespace {

/// Number of requests of each path before one is preferred. They alternate, because the rate of a disk varies from
/// second to second.
constexpr std::int64_t kTrials = 4;
/// Number of requests on the better path between two requests on the other one: at first, and at most.
constexpr std::int64_t kMinRequestsBetweenTrials = 32;
constexpr std::int64_t kMaxRequestsBetweenTrials = 1024;
/// Weight of the newest request in the mean.
constexpr double kNewestWeight = 0.25;

}  // namespace

bool ReadChoice::should_bypass(double min_gain) {
  const std::lock_guard lock(mutex_);
  if (std::min(bypassing_.requests, through_cache_.requests) < kTrials)
    return bypassing_.requests <= through_cache_.requests;
  const bool better = bypassing_.cost() * min_gain < through_cache_.cost();
  if (better != bypass_is_better_ || requests_between_trials_ == 0) {
    bypass_is_better_ = better;
    requests_since_trial_ = 0;
    requests_between_trials_ = kMinRequestsBetweenTrials;
  }
  if (++requests_since_trial_ <= requests_between_trials_) return better;
  requests_since_trial_ = 0;
  requests_between_trials_ = std::min(2 * requests_between_trials_, kMaxRequestsBetweenTrials);
  return !better;
}

void ReadChoice::learn(bool is_bypassing, const Cost& cost, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  PathCosts& path = is_bypassing ? bypassing_ : through_cache_;
  // The second request replaces the first one, which includes opening the file, or the first use of memory.
  const double weight = path.requests < 2 ? 1 : kNewestWeight;
  const auto update_mean = [&](double& mean_per_byte, double measured) {
    mean_per_byte += weight * (measured / static_cast<double>(bytes) - mean_per_byte);
  };
  update_mean(path.per_byte.seconds, cost.seconds);
  update_mean(path.per_byte.processor_seconds, cost.processor_seconds);
  ++path.requests;
}

ReadChoice::Rates ReadChoice::rates() const {
  const std::lock_guard lock(mutex_);
  Rates rates;
  if (bypassing_.requests > 0) rates.bypassing = 1 / bypassing_.per_byte.seconds;
  if (through_cache_.requests > 0) rates.through_cache = 1 / through_cache_.per_byte.seconds;
  return rates;
}

ReadChoice& ReadChoice::for_device(dev_t device) {
  static std::mutex mutex;
  static std::map<dev_t, std::unique_ptr<ReadChoice>> known;
  const std::lock_guard lock(mutex);
  auto& choice = known[device];
  if (!choice) choice = std::make_unique<ReadChoice>();
  return *choice;
}

}  // namespace plait::store::posix
