/// Keys that are renewed before they expire.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "store/objects/s3/credentials/credentials.hpp"

namespace plait::store::s3 {

/// Fetches keys and caches them until five minutes before they expire.  threads  Any.
class CredentialSource {
 public:
  using Fetch = std::function<Credentials()>;
  /// Has keys that never change.
  explicit CredentialSource(Credentials fixed);
  explicit CredentialSource(Fetch fetch);

  /// Fetches keys if there are none, or if they expire soon. If that fails and the former keys are still valid, these
  /// remain. It sends requests, so that the thread of the HTTP client must not call it.
  /// errors  Those of the function that fetches.
  void renew();
  /// Returns the keys; nullptr before renew() has returned.
  std::shared_ptr<const Credentials> current() const;

 private:
  enum class Need { kNone, kSoon, kNow };
  Need need() const;
  void set(std::shared_ptr<const Credentials> keys, std::int64_t next);

  Fetch fetch_;
  std::mutex fetching_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Credentials> keys_;
  std::int64_t next_ = 0;  ///< time before which the keys are not fetched again
};

/// Returns the source of this process with a name, which all buckets share. Makes it if there is none.
std::shared_ptr<CredentialSource> shared_source(const std::string& name, CredentialSource::Fetch fetch);

}  // namespace plait::store::s3
