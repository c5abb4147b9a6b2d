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
/// taken, and the other one is tried again now and then, less often each time: rates of disks and of neighbours change.
///
/// Better is what costs less time and processor time together.  By its time alone a request through the cache looks good
/// as long as the other ranks, which share the disk with it, leave it their cores.
/// threads  Any.
class ReadChoice {
 public:
  /// Whether the next request goes past the cache.  `least_gain`: how many times as fast that must be.
  bool goes_past(double least_gain);
  /// What a request of a way took.
  struct Cost {
    double seconds = 0;
    double processor_seconds = 0;
  };
  void learn(bool past, const Cost& cost, std::int64_t bytes);

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
    Cost of_byte;
    std::int64_t requests = 0;

    double cost() const { return of_byte.seconds + of_byte.processor_seconds; }
  };

  mutable std::mutex mutex_;
  Way past_;
  Way through_;
  bool past_is_better_ = false;
  std::int64_t since_ = 0;    // requests of the better way since the other one was tried
  std::int64_t between_ = 0;  // so many until it is tried again
};

}  // namespace plait::store::posix
