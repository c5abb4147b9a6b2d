#include "store/posix/read_choice.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace plait::store::posix {

namespace {

/// Requests of each way before one is preferred, in turns, since a disk's rate differs from second to second.
constexpr std::int64_t kTrials = 6;
/// Requests of the better way between two of the other one.
constexpr std::int64_t kBetweenTrials = 64;
/// The share of the newest request.
constexpr double kNewest = 0.25;

}  // namespace

bool ReadChoice::goes_past(double least_gain) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = ++asked_;
  if (std::min(past_.requests, through_.requests) < kTrials) return past_.requests <= through_.requests;
  const bool better = past_.seconds_per_byte * least_gain < through_.seconds_per_byte;
  Way& other = better ? through_ : past_;
  if (now - other.last < kBetweenTrials) return better;
  other.last = now;
  return !better;
}

void ReadChoice::learn(bool past, double seconds, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  Way& way = past ? past_ : through_;
  const double cost = seconds / static_cast<double>(bytes);
  // The first one opens the file, or finds memory that nobody has touched.
  way.seconds_per_byte = way.requests < 2 ? cost : (1 - kNewest) * way.seconds_per_byte + kNewest * cost;
  ++way.requests;
  way.last = asked_;
}

ReadChoice::Rates ReadChoice::rates() const {
  const std::lock_guard lock(mutex_);
  Rates rates;
  if (past_.requests > 0) rates.past = 1 / past_.seconds_per_byte;
  if (through_.requests > 0) rates.through = 1 / through_.seconds_per_byte;
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
