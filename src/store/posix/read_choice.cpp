#include "store/posix/read_choice.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace plait::store::posix {

namespace {

/// Requests of each way before one is preferred, in turns, since a disk's rate differs from second to second.
constexpr std::int64_t kTrials = 4;
/// Requests of the better way between two of the other one, at first and at most.
constexpr std::int64_t kLeastBetween = 32;
constexpr std::int64_t kMostBetween = 1024;
/// The share of the newest request.
constexpr double kNewest = 0.25;

}  // namespace

bool ReadChoice::goes_past(double least_gain) {
  const std::lock_guard lock(mutex_);
  if (std::min(past_.requests, through_.requests) < kTrials) return past_.requests <= through_.requests;
  const bool better = past_.cost() * least_gain < through_.cost();
  if (better != past_is_better_ || between_ == 0) {
    past_is_better_ = better;
    since_ = 0;
    between_ = kLeastBetween;
  }
  if (++since_ <= between_) return better;
  since_ = 0;
  between_ = std::min(2 * between_, kMostBetween);
  return !better;
}

void ReadChoice::learn(bool past, const Cost& cost, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  Way& way = past ? past_ : through_;
  // The first one opens the file, or finds memory that nobody has touched.
  const double newest = way.requests < 2 ? 1 : kNewest;
  const auto mix = [&](double& mean, double found) { mean += newest * (found / static_cast<double>(bytes) - mean); };
  mix(way.of_byte.seconds, cost.seconds);
  mix(way.of_byte.processor_seconds, cost.processor_seconds);
  ++way.requests;
}

ReadChoice::Rates ReadChoice::rates() const {
  const std::lock_guard lock(mutex_);
  Rates rates;
  if (past_.requests > 0) rates.past = 1 / past_.of_byte.seconds;
  if (through_.requests > 0) rates.through = 1 / through_.of_byte.seconds;
  return rates;
}

ReadChoice& ReadChoice::of(dev_t device) {
  static std::mutex mutex;
  static std::map<dev_t, std::unique_ptr<ReadChoice>> known;
  const std::lock_guard lock(mutex);
  auto& choice = known[device];
  if (!choice) choice = std::make_unique<ReadChoice>();
  return *choice;
}

}  // namespace plait::store::posix
