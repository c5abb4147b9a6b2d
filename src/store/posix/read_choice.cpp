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
constexpr std::int64_t kMinBetween = 32;
constexpr std::int64_t kMaxBetween = 1024;
/// Weight of the newest request in the mean.
constexpr double kNewest = 0.25;

}  // namespace

bool ReadChoice::goes_past(double min_gain) {
  const std::lock_guard lock(mutex_);
  if (std::min(past_.requests, through_.requests) < kTrials) return past_.requests <= through_.requests;
  const bool better = past_.cost() * min_gain < through_.cost();
  if (better != past_is_better_ || between_ == 0) {
    past_is_better_ = better;
    since_ = 0;
    between_ = kMinBetween;
  }
  if (++since_ <= between_) return better;
  since_ = 0;
  between_ = std::min(2 * between_, kMaxBetween);
  return !better;
}

void ReadChoice::learn(bool past, const Cost& cost, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  Method& method = past ? past_ : through_;
  // The second request replaces the first one, which includes opening the file, or the first use of memory.
  const double newest = method.requests < 2 ? 1 : kNewest;
  const auto mix = [&](double& mean, double measured) {
    mean += newest * (measured / static_cast<double>(bytes) - mean);
  };
  mix(method.of_byte.seconds, cost.seconds);
  mix(method.of_byte.processor_seconds, cost.processor_seconds);
  ++method.requests;
}

ReadChoice::Rates ReadChoice::rates() const {
  const std::lock_guard lock(mutex_);
  Rates rates;
  if (past_.requests > 0) rates.past = 1 / past_.of_byte.seconds;
  if (through_.requests > 0) rates.through = 1 / through_.of_byte.seconds;
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
