/// The results of a replay.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "simulation/devices/device.hpp"
#include "simulation/replay/buffer_cache.hpp"

namespace plait::simulation {

/// A histogram of times with 16 classes for each power of two, so that a percentile is exact within 1/16. Example:
/// 1000 ns is in class 111, which covers 992 to 1023 ns.
/// memory  8 KiB.
class LatencyHistogram {
 public:
  void add(Time time) {
    ++counts_[index(time)];
    ++count_;
    sum_ += static_cast<double>(time);
    max_ = std::max(max_, time);
  }
  std::int64_t count() const noexcept { return count_; }
  double mean() const noexcept { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  Time maximum() const noexcept { return max_; }
  /// Upper end of the class in which the fraction `share` of all times, 0 to 1, is reached.
  Time percentile(double share) const {
    const double rank = share * static_cast<double>(count_);
    double counted = 0;
    for (std::size_t k = 0; k < counts_.size(); ++k) {
      counted += static_cast<double>(counts_[k]);
      if (counts_[k] > 0 && counted >= rank) return std::min(class_end(k), max_);
    }
    return max_;
  }

 private:
  static constexpr std::size_t kClassesPerPower = 16;
  static std::size_t index(Time time) {
    const auto value = static_cast<std::uint64_t>(std::max<Time>(time, 0));
    if (value < kClassesPerPower) return value;
    const auto power = static_cast<std::size_t>(std::bit_width(value)) - 1;
    return (power - 3) * kClassesPerPower + ((value >> (power - 4)) & (kClassesPerPower - 1));
  }
  static Time class_end(std::size_t index) {
    if (index < kClassesPerPower) return static_cast<Time>(index);
    const std::size_t power = index / kClassesPerPower + 3;
    return static_cast<Time>(((kClassesPerPower + index % kClassesPerPower + 1) << (power - 4)) - 1);
  }

  std::array<std::int64_t, 61 * kClassesPerPower> counts_{};
  std::int64_t count_ = 0;
  double sum_ = 0;
  Time max_ = 0;
};

/// Sums over equal intervals of time, whose length doubles when there are too many.
/// memory  16 KiB.
class TimeSeries {
 public:
  void add(Time time, std::int64_t amount) {
    if (time < begin_ || time >= end_) select_interval(time);
    sums_[current_] += amount;
  }
  /// Adds the ns between two times, each to its interval.
  void add_span(Time from, Time to) {
    if (to <= from) return;
    select_interval(to);  // doubles the interval first, because later doubling would change the interval ends
    while (from < to) {
      const Time end = std::min(to, (from / interval_ + 1) * interval_);
      add(from, end - from);
      from = end;
    }
  }
  Time interval() const noexcept { return interval_; }
  const std::vector<std::int64_t>& sums() const noexcept { return sums_; }

 private:
  static constexpr std::size_t kMaxIntervals = 2048;
  /// Makes the interval that contains `time` the current one. add() calls it only if the interval changes, which saves
  /// a division for most amounts.
  void select_interval(Time time) {
    while (time / interval_ >= static_cast<Time>(kMaxIntervals)) double_interval();
    current_ = static_cast<std::size_t>(time / interval_);
    begin_ = static_cast<Time>(current_) * interval_;
    end_ = begin_ + interval_;
    if (current_ >= sums_.size()) sums_.resize(current_ + 1);
  }
  void double_interval() {
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      const std::int64_t sum = sums_[k];
      sums_[k] = 0;
      sums_[k / 2] += sum;
    }
    sums_.resize((sums_.size() + 1) / 2);
    interval_ *= 2;
  }

  Time interval_ = 1'000'000;
  std::vector<std::int64_t> sums_;
  std::size_t current_ = 0;  // index of the interval of the last amount, from begin_ to before end_
  Time begin_ = 0;
  Time end_ = 0;
};

/// The times and requests of one process. Its times from `start` to `end` are divided into the kinds below.
struct ProcessOutcome {
  Time start = 0;
  Time end = 0;
  Time computing = 0;
  Time system = 0;   ///< in file system code, copies and switches
  Time waiting = 0;  ///< waiting for I/O
  Time ready = 0;    ///< waiting for a processor
  Time pausing = 0;  ///< recorded time that is neither computing nor I/O
  Time barrier = 0;  ///< waiting for other processes of a collective operation
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t read_bytes = 0;
  std::int64_t write_bytes = 0;
  std::int64_t hit_bytes = 0;  ///< bytes of reads that the cache served entirely
};

struct ReplayOutcome {
  Time elapsed = 0;  ///< time at which the last process ended
  Time drained = 0;  ///< time at which the last byte is on the device
  Time idle = 0;     ///< idle time of all processors together, until the last process has ended
  Time computing = 0;
  Time system = 0;
  Time interrupts = 0;  ///< time of processors in interrupts
  std::int64_t switches = 0;
  std::int64_t unmatched = 0;  ///< collective operations that some of their processes never reached
  std::vector<ProcessOutcome> processes;
  std::vector<DeviceUse> devices;
  CacheCounts cache;
  std::int64_t max_dirty = 0;     ///< maximum, in bytes
  LatencyHistogram read_latency;  ///< times of synchronous requests, from the call to its end
  LatencyHistogram write_latency;
  TimeSeries program_read, program_write, device_read, device_write;  ///< in bytes
  TimeSeries idle_time;                                               ///< in ns
};

}  // namespace plait::simulation
