/// The data rate over time (figures 3 and 4).
#pragma once

#include "trace/report/call.hpp"
#include "trace/report/time/bins.hpp"

namespace plait::trace::report {

/// The rate over wall time, and over the CPU time of the process if there is exactly one with a CPU time.
class TimelineAnalyser final : public Analyser {
 public:
  static constexpr std::size_t kMax = 2048;

  void add(std::span<const Call> calls) override;
  void store_results(Report& report) const override;
  /// True if CPU time can be used: one process transferred data, and every request has a CPU time.
  bool has_cpu() const { return cpu_ && processes_ == 1; }

 private:
  enum : std::size_t { kBytes = 0, kCounts = 2, kBusy = 4, kElapsed = 5, kSeries = 6 };

  Bins<std::int64_t> wall_{kMax, kSeries};
  Bins<std::int64_t> cpu_bins_{kMax, kSeries};
  bool cpu_ = true;
  int processes_ = 0;  // number of processes that transferred data: 0, 1, or 2 for more
  std::uint32_t process_ = 0;
  std::int64_t last_cpu_ = 0;
  std::int64_t last_start_ = 0;
};

}  // namespace plait::trace::report
