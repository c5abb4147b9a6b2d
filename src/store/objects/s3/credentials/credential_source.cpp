// Keys of roles expire after minutes or hours, and programs run longer.
//
// A thread that is about to send a request renews keys that have less than five minutes left, so that they are still
// valid when the request is repeated, and when the clocks differ. If that fails, the next attempt follows after half of
// the time that is left, at most a minute. Meanwhile other threads use the former keys.
//
// Example: keys expire at 10:00:00. At 9:55:00 their renewal fails; the next attempts are at 9:56:00, ..., 9:59:00,
// 9:59:30 and 9:59:45. From 10:00:00 the failure is an error of each request.

#include "store/objects/s3/credentials/credential_source.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/process.hpp"
#include "plait/error.hpp"

namespace plait::store::s3 {

namespace {

constexpr std::int64_t kMargin = 300;
constexpr std::int64_t kLongestPause = 60;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Returns the time of the next attempt after one at `time`.
std::int64_t next_attempt(const Credentials& keys, std::int64_t time) {
  const std::int64_t left = keys.expires - time;
  // Servers may hand out keys that have expired while they cannot renew them.
  return time + (left <= 0 ? kLongestPause : std::clamp<std::int64_t>(left / 2, 1, kLongestPause));
}

struct SharedSources {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<CredentialSource>> sources;
};

}  // namespace

CredentialSource::CredentialSource(Credentials fixed) : keys_(std::make_shared<Credentials>(std::move(fixed))) {}

CredentialSource::CredentialSource(Fetch fetch) : fetch_(std::move(fetch)) {}

CredentialSource::Need CredentialSource::need() const {
  const std::scoped_lock lock(mutex_);
  if (keys_ == nullptr) return Need::kNow;
  const std::int64_t time = now();
  if (!fetch_ || keys_->expires == 0 || time < keys_->expires - kMargin || time < next_) return Need::kNone;
  return time < keys_->expires ? Need::kSoon : Need::kNow;
}

void CredentialSource::set(std::shared_ptr<const Credentials> keys, std::int64_t next) {
  const std::scoped_lock lock(mutex_);
  keys_ = std::move(keys);
  next_ = next;
}

void CredentialSource::renew() {
  const Need before = need();
  if (before == Need::kNone) return;
  std::unique_lock fetching(fetching_, std::defer_lock);
  if (before == Need::kNow)
    fetching.lock();
  else if (!fetching.try_lock())
    return;  // another thread renews the keys
  const Need still = need();
  if (still == Need::kNone) return;
  try {
    auto keys = std::make_shared<const Credentials>(fetch_());
    const std::int64_t next = next_attempt(*keys, now());
    set(std::move(keys), next);
  } catch (const Error&) {
    if (still == Need::kNow) throw;
    auto keys = current();
    const std::int64_t next = next_attempt(*keys, now());
    set(std::move(keys), next);
  }
}

std::shared_ptr<const Credentials> CredentialSource::current() const {
  const std::scoped_lock lock(mutex_);
  return keys_;
}

std::shared_ptr<CredentialSource> shared_source(const std::string& name, CredentialSource::Fetch fetch) {
  static base::PerProcess<SharedSources> shared;
  SharedSources& known = shared.get();
  const std::scoped_lock lock(known.mutex);
  std::shared_ptr<CredentialSource>& source = known.sources[name];
  if (source == nullptr) source = std::make_shared<CredentialSource>(std::move(fetch));
  return source;
}

}  // namespace plait::store::s3
