/// Chooses between reading through the page cache and past it, for one device.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>

namespace plait::store::posix {

/// Measured costs of a process's requests to one device for uncached bytes.
///
/// A disk of 2 GB/s is faster than a processor can fill the page cache, so bypassing the cache saves time. For a slow
/// disk both paths take the same time, and bytes that are read through the cache need not be read again from the disk.
/// Therefore each path is tried for a few requests, then the better one is used. The other path is tried again from
/// time to time, at growing intervals, because the rate of a disk and the load by other processes change.
///
/// The cost is the sum of elapsed time and processor time. Elapsed time alone would favour the cache while other ranks,
/// which wait for the same disk, leave their cores idle; that processor time is missing as soon as they compute.
/// threads  Any.
class ReadChoice {
 public:
  /// Returns true if the next request should bypass the cache. min_gain: bypassing is preferred if the cost through the
  /// cache is more than `min_gain` times its cost.
  bool should_bypass(double min_gain);
  /// The cost of one request.
  struct Cost {
    double seconds = 0;
    double processor_seconds = 0;
  };
  /// Records the cost of a request of `bytes` bytes. is_bypassing: true if it bypassed the cache.
  void learn(bool is_bypassing, const Cost& cost, std::int64_t bytes);

  /// Bytes per second of each path; empty if it has not been tried.
  struct Rates {
    std::optional<double> bypassing;
    std::optional<double> through_cache;
  };
  Rates rates() const;

  /// Returns the object for a device, which all files on the device share.
  static ReadChoice& for_device(dev_t device);

 private:
  struct PathCosts {
    Cost per_byte;
    std::int64_t requests = 0;

    double cost() const { return per_byte.seconds + per_byte.processor_seconds; }
  };

  mutable std::mutex mutex_;
  PathCosts bypassing_;
  PathCosts through_cache_;
  bool bypass_is_better_ = false;
  std::int64_t requests_since_trial_ = 0;  // requests on the better path since the other path was tried
  /// Requests on the better path after which the other path is tried again.
  std::int64_t requests_between_trials_ = 0;
};

}  // namespace plait::store::posix
