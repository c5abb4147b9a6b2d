#include "trace/report/timeline.hpp"

#include <algorithm>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

void TimelineAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    const std::int64_t from = std::max(call.start, until_);
    const std::int64_t busy = call.io ? std::max<std::int64_t>(call.end - from, 0) : 0;
    if (busy > 0) {
      wall_.cover(kBusy, from, call.end);
      until_ = call.end;
    }
    wall_.reach(call.start);
    if (call.is_data() && processes_ < 2 && (processes_ == 0 || call.process != process_)) {
      process_ = call.process;
      ++processes_;
    }
    if (processes_ < 2 && cpu_ && (call.is_data() || (call.event.cpu >= 0 && call.process == process_))) {
      // CPU time begins at zero, not at the first event: what came before the first request is part of the run.
      cpu_ = call.event.cpu >= 0;
      last_cpu_ = std::max(last_cpu_, call.event.cpu);
      const std::size_t bin = cpu_bins_.reach(last_cpu_);
      cpu_bins_.at(kBusy, bin) += busy;
      cpu_bins_.at(kElapsed, bin) += call.start - last_start_;
      last_start_ = call.start;
    }
    if (!call.is_data()) continue;
    const auto way = static_cast<std::size_t>(call.direction);
    const std::size_t bin = wall_.reach(call.start);
    grow(wall_.at(kBytes + way, bin), call.moved);
    ++wall_.at(kCounts + way, bin);
    if (!cpu_ || processes_ > 1) continue;
    const std::size_t place = cpu_bins_.reach(last_cpu_);
    grow(cpu_bins_.at(kBytes + way, place), call.moved);
    ++cpu_bins_.at(kCounts + way, place);
  }
}

void TimelineAnalyser::result(Report& report) const {
  Timeline& line = report.timeline;
  line.cpu = report.timeline.cpu && has_cpu();
  const Bins<std::int64_t>& bins = line.cpu ? cpu_bins_ : wall_;
  line.width = bins.width();
  const std::size_t used = bins.used();
  for (std::size_t way = 0; way < 2; ++way) {
    line.bytes[way].assign(bins.sums(kBytes + way).begin(),
                           bins.sums(kBytes + way).begin() + static_cast<std::ptrdiff_t>(used));
    line.counts[way].assign(bins.sums(kCounts + way).begin(),
                            bins.sums(kCounts + way).begin() + static_cast<std::ptrdiff_t>(used));
  }
  for (std::size_t bin = 0; bin < used; ++bin) {
    const auto busy = static_cast<double>(bins.sums(kBusy)[bin]);
    const double elapsed = line.cpu ? static_cast<double>(std::max(bins.sums(kElapsed)[bin], bins.sums(kBusy)[bin]))
                                    : static_cast<double>(bins.width());
    line.busy.push_back(elapsed > 0 ? std::min(busy / elapsed, 1.0) : 0.0);
  }
}

}  // namespace plait::trace::report
