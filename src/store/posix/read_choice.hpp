/// Which way bytes come faster from a device: through the page cache, or past it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>

namespace plait::store::posix {

/// What a process has found out about one device from its own requests for bytes that were not cached.
///
/// A disk of 2 GB/s is faster than a processor that fills the page cache; behind a slow one both ways take as long, and
/// what has gone through the cache need not be read again.  So each way is tried for a few MiB, then the better one is
/// taken, and the other one is tried again now and then: rates of disks and of neighbours change.
/// threads  Any.
class ReadChoice {
 public:
  /// Whether the next request goes past the cache.  `least_gain`: how many times as fast that must be.
  bool goes_past(double least_gain);
  /// What a request of a way took.
  void learn(bool past, double seconds, std::int64_t bytes);

  /// Bytes per second of each way; none where it has not been tried.
  struct Rates {
    std::optional<double> past;
    std::optional<double> through;
  };
  Rates rates() const;

  /// That of a device, the same for all files on it.
  static ReadChoice& of(dev_t device);

 private:
  struct Way {
    double seconds_per_byte = 0;
    std::int64_t requests = 0;
    std::int64_t last = 0;  // request of either way
  };

  mutable std::mutex mutex_;
  Way past_;
  Way through_;
  std::int64_t asked_ = 0;
};

}  // namespace plait::store::posix
