// The analysis of a trace in one pass: each batch of events is numbered, filtered and passed to the analysers of the
// logical level (calls of the program) or of the physical level (requests that reached a device).

#include "trace/report/analysis.hpp"

#include <algorithm>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "trace/report/filter.hpp"
#include "trace/report/level.hpp"
#include "trace/report/lookup.hpp"
#include "trace/report/sum.hpp"
#include "trace/report/tables/amplification.hpp"

namespace plait::trace::report {

namespace {

constexpr std::size_t kBatch = 2048;
constexpr int kReportInterval = 64;  // number of batches

bool has_open(const Event& event) { return event.file != 0 && event.kind < Kind::kStart; }

bool is_read_or_write(const Event& event) { return event.kind == Kind::kRead || event.kind == Kind::kWrite; }

// Larger values are damage: no trace is longer than 73 years, no file larger than 4 EiB, no request larger than 1 PiB.
constexpr std::int64_t kMaxTime = std::int64_t{1} << 61;
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 62;
constexpr std::int64_t kMaxRequestBytes = std::int64_t{1} << 50;

/// Limits impossible values of a damaged trace to the maxima above. Returns true if there were any.
bool limit_impossible_values(Event& event) {
  const Event original = event;
  event.duration = std::min(event.duration, kMaxTime);
  event.cpu = std::min(event.cpu, kMaxTime);
  event.offset = std::min(event.offset, kMaxOffset);
  event.result = std::min(event.result, kMaxRequestBytes);
  return !(event == original);
}

/// Returns a - b for a >= b, limited to kMaxTime.
std::int64_t limited_difference(std::int64_t a, std::int64_t b) {
  const std::uint64_t exact = static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
  return static_cast<std::int64_t>(std::min(exact, static_cast<std::uint64_t>(kMaxTime)));
}

/// True if every process that transferred data has a CPU time.
bool cpu_is_known(const std::vector<ProcessRow>& processes) {
  bool has_data = false;
  for (const ProcessRow& row : processes) {
    if (row.data[kReads].count + row.data[kWrites].count == 0) continue;
    has_data = true;
    if (row.cpu <= 0) return false;
  }
  return has_data;
}

/// True if a sum has reached its maximum. The sums checked here include all others.
bool is_full(const Report& report) {
  std::int64_t bytes = sum_saturated(report.totals.data[kReads].bytes, report.totals.data[kWrites].bytes);
  if (report.amplification) bytes = std::max({bytes, report.amplification->logical, report.amplification->physical});
  std::int64_t time = 0;
  for (const CallRow& row : report.calls) add_saturated(time, row.time);
  return std::max({bytes, report.data_bytes, time, report.totals.cpu}) == INT64_MAX;
}

class Analysis {
 public:
  Analysis(Reader& reader, const Options& options)
      : reader_(reader), options_(options), lookup_(reader.description()), filter_(lookup_, options) {
    if (!options.logical.has_value() || *options.logical) logical_.emplace(lookup_, true);
    if (!options.logical.has_value() || !*options.logical) physical_.emplace(lookup_, false);
  }

  void run() {
    std::vector<Event> output(kBatch);
    for (int batch = 0;; ++batch) {
      const std::size_t count = reader_.read(output);
      lookup_.update();
      add_batch(std::span<const Event>(output).first(count));
      if (options_.progress && (batch % kReportInterval == 0 || count == 0))
        options_.progress(reader_.bytes_read(), reader_.bytes_in_all());
      if (count == 0) break;
    }
    if (options_.process && !has_process()) {
      base::throw_argument_error("process ", *options_.process, " is not in the trace");
    }
  }

  Report result() {
    Report report;
    report.description = reader_.description();
    report.totals.events = events_;
    report.totals.wall = last_end_;
    if (logical_ && physical_) (has_logical_ || !has_physical_ ? physical_ : logical_).reset();
    report.logical = logical_.has_value();
    const Level& level = logical_ ? *logical_ : *physical_;
    level.processes().store_results(report);
    choose_clock(report);
    level.store_results(report);
    amplifier_.store_results(report);
    filter_.store_results(report);
    if (is_full(report)) report.notes.push_back("sums passed 64 bits: they are larger than what is told");
    if (early_events_ > 0)
      report.notes.push_back(base::text(early_events_, early_events_ == 1 ? " event was" : " events were",
                                        " out of the order of their starts"));
    if (impossible_events_ > 0)
      report.notes.push_back(base::text(impossible_events_, impossible_events_ == 1 ? " event has" : " events have",
                                        " impossible times, offsets or sizes, which were brought to what can be"));
    return report;
  }

 private:
  /// True if the requested process has events, or the description contains it.
  bool has_process() const {
    const std::vector<Process>& processes = reader_.description().processes;
    return has_events_ || std::any_of(processes.begin(), processes.end(),
                                      [&](const Process& process) { return process.number == *options_.process; });
  }

  void add_batch(std::span<const Event> events) {
    calls_.clear();
    for (const Event& event : events) {
      ++events_;
      if (options_.process && event.process != *options_.process) continue;
      has_events_ = true;
      Call call;
      call.event = event;
      if (limit_impossible_values(call.event)) ++impossible_events_;
      if (!has_origin_) origin_ = event.start;
      has_origin_ = true;
      if (event.start >= origin_) {
        call.start = limited_difference(event.start, origin_);
      } else {
        ++early_events_;
      }
      call.end = call.start + std::max<std::int64_t>(call.event.duration, 0);
      call.process = lookup_.process(event.process);
      if (has_open(event)) {
        call.open = lookup_.open(event.process, event.file);
        call.name = lookup_.name(call.open);
      }
      const Filter::Verdict verdict = filter_.decide(call);
      if (verdict == Filter::Verdict::kNotRequested) continue;
      last_end_ = std::max(last_end_, call.end);
      call.moved = call.event.moved();
      call.left_out = verdict == Filter::Verdict::kLeftOut;
      if (call.left_out) filter_.count_left_out(call);
      if (is_read_or_write(event)) ((event.flags & flag::kLogical) != 0 ? has_logical_ : has_physical_) = true;
      calls_.push_back(call);
    }
    amplifier_.add(calls_);
    if (has_logical_ && !options_.logical.has_value()) physical_.reset();
    if (logical_) logical_->add(calls_);
    if (physical_) physical_->add(calls_);
  }

  void choose_clock(Report& report) const {
    const bool cpu_known = cpu_is_known(report.processes);
    if (options_.cpu && !cpu_known)
      base::throw_argument_error(
          "the trace does not tell the CPU time of every process that moved data; use the wall clock");
    report.cpu_clock = options_.cpu;
    report.timeline.cpu = report.cpu_clock;
    report.totals.cpu = kUnknown;
    if (!cpu_known) return;
    report.totals.cpu = 0;
    for (const ProcessRow& row : report.processes) add_saturated(report.totals.cpu, std::max<std::int64_t>(row.cpu, 0));
  }

  Reader& reader_;
  const Options& options_;
  Lookup lookup_;
  Filter filter_;
  std::optional<Level> logical_;
  std::optional<Level> physical_;
  Amplifier amplifier_;
  std::vector<Call> calls_;
  bool has_origin_ = false;
  bool has_events_ = false;
  bool has_logical_ = false;
  bool has_physical_ = false;
  std::int64_t origin_ = 0;  // start of the first event
  std::int64_t last_end_ = 0;
  std::int64_t events_ = 0;
  std::int64_t early_events_ = 0;  // events that start before the first event of the trace
  std::int64_t impossible_events_ = 0;
};

}  // namespace

Report analyse(Reader& reader, const Options& options) {
  Analysis analysis(reader, options);
  analysis.run();
  return analysis.result();
}

}  // namespace plait::trace::report
