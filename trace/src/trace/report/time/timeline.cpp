#include "trace/report/time/timeline.hpp"

#include <algorithm>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

namespace {

/// Returns the sum of the times that processes existed in each bin.
/// cost  O(processes + bins).
std::vector<double> present(const std::vector<ProcessRow>& processes, std::int64_t width, std::size_t bins) {
  std::vector<double> parts(bins, 0.0);      // time of processes that begin or end in the bin
  std::vector<double> changes(bins + 1, 0);  // change of the number of processes that exist during the whole bin
  for (const ProcessRow& row : processes) {
    const auto first = static_cast<std::size_t>(row.begin / width);
    const auto last = static_cast<std::size_t>(std::max(row.end, row.begin) / width);
    if (first >= bins) continue;
    if (first == last) {
      parts[first] += static_cast<double>(std::max(row.end, row.begin) - row.begin);
      continue;
    }
    parts[first] += static_cast<double>(width - row.begin % width);
    ++changes[first + 1];
    --changes[std::min(last, bins)];
    if (last < bins) parts[last] += static_cast<double>(row.end % width);
  }
  double whole = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    whole += changes[bin];
    parts[bin] += whole * static_cast<double>(width);
  }
  return parts;
}

}  // namespace

void TimelineAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    const std::int64_t busy = call.io ? std::max<std::int64_t>(call.end - call.unshared_start, 0) : 0;
    if (busy > 0) wall_.cover(kBusy, call.unshared_start, call.end);
    wall_.reach(call.start);
    if (call.is_data() && processes_ < 2 && (processes_ == 0 || call.process != process_)) {
      process_ = call.process;
      ++processes_;
    }
    if (processes_ < 2 && cpu_ && (call.is_data() || (call.event.cpu >= 0 && call.process == process_))) {
      // CPU time begins at zero, not at the first event: the time before the first request is part of the run.
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
    add_saturated(wall_.at(kBytes + way, bin), call.moved);
    ++wall_.at(kCounts + way, bin);
    if (!cpu_ || processes_ > 1) continue;
    const std::size_t cpu_bin = cpu_bins_.reach(last_cpu_);
    add_saturated(cpu_bins_.at(kBytes + way, cpu_bin), call.moved);
    ++cpu_bins_.at(kCounts + way, cpu_bin);
  }
}

void TimelineAnalyser::store_results(Report& report) const {
  Timeline& line = report.timeline;
  line.cpu = report.timeline.cpu && has_cpu();
  const Bins<std::int64_t>& bins = line.cpu ? cpu_bins_ : wall_;
  line.width = bins.width();
  const std::size_t used = bins.used_bins();
  for (std::size_t way = 0; way < 2; ++way) {
    line.bytes[way].assign(bins.sums(kBytes + way).begin(),
                           bins.sums(kBytes + way).begin() + static_cast<std::ptrdiff_t>(used));
    line.counts[way].assign(bins.sums(kCounts + way).begin(),
                            bins.sums(kCounts + way).begin() + static_cast<std::ptrdiff_t>(used));
  }
  if (!line.cpu) line.present = present(report.processes, bins.width(), used);
  for (std::size_t bin = 0; bin < used; ++bin) {
    const auto busy = static_cast<double>(bins.sums(kBusy)[bin]);
    if (line.cpu) line.present.push_back(std::max(static_cast<double>(bins.sums(kElapsed)[bin]), busy));
    const double whole = line.present[bin];
    line.busy.push_back(whole > 0 ? std::min(busy / whole, 1.0) : 0.0);
  }
}

}  // namespace plait::trace::report
