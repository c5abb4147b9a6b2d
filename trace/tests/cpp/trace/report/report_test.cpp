// Reports of traces, compared with sums over single events. A logical event is a call of the program, a physical event
// a request that reached a store.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace_report_case.hpp"

namespace plait::trace::report {
namespace {

bool is_data(const Event& event) { return event.kind <= Kind::kWrite; }
bool is_logical(const Event& event) { return (event.flags & flag::kLogical) != 0; }

/// Returns the successful data events of one level, including those of no bytes.
std::vector<Event> data_events(const TraceInput& input, bool logical) {
  std::vector<Event> result;
  for (const Event& event : input.events)
    if (is_data(event) && event.result >= 0 && is_logical(event) == logical) result.push_back(event);
  return result;
}

std::string file_name(const TraceInput& input, const Event& event) {
  for (const File& file : input.description.files)
    if (file.process == event.process && file.number == event.file && !file.name.empty()) return file.name;
  return "file " + std::to_string(event.file) + " of process " + std::to_string(event.process);
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

/// Returns the length of the union of intervals, for example 7 for {0, 5} and {3, 7}.
std::int64_t covered_time(std::vector<std::pair<std::int64_t, std::int64_t>> parts) {
  std::sort(parts.begin(), parts.end());
  std::int64_t total = 0;
  std::int64_t until = INT64_MIN;
  for (const auto& [begin, end] : parts) {
    total += std::max<std::int64_t>(end - std::max(begin, until), 0);
    until = std::max(until, end);
  }
  return total;
}

class Random : public testing::TestWithParam<int> {
 protected:
  TraceInput input = random_input(static_cast<unsigned>(GetParam()), 3000, GetParam() % 2 == 1);
  Report report = input.report();
  std::vector<Event> data = data_events(input, true);
};

TEST_P(Random, TotalsAreTheSumsOfTheEvents) {
  std::array<Traffic, 2> sums{};
  for (const Event& event : data) {
    Traffic& traffic = sums[event.kind == Kind::kRead ? kReads : kWrites];
    ++traffic.count;
    traffic.bytes += event.moved();
  }
  std::array<Traffic, 2> from_sizes{};
  for (std::size_t direction = 0; direction < 2; ++direction) {
    EXPECT_EQ(report.totals.data[direction].count, sums[direction].count);
    EXPECT_EQ(report.totals.data[direction].bytes, sums[direction].bytes);
    EXPECT_EQ(sum(report.timeline.bytes[direction]), sums[direction].bytes);
    EXPECT_EQ(sum(report.timeline.counts[direction]), sums[direction].count);
    EXPECT_EQ(report.totals.order[direction].count(), sums[direction].count);
    for (const SizeBin& bin : report.sizes[direction]) {
      from_sizes[direction].count += bin.traffic.count;
      from_sizes[direction].bytes += bin.traffic.bytes;
    }
    EXPECT_EQ(from_sizes[direction].count, sums[direction].count);
    EXPECT_EQ(from_sizes[direction].bytes, sums[direction].bytes);
    std::int64_t by_file = 0;
    for (const FileRow& file : report.files) by_file += file.data[direction].bytes;
    EXPECT_EQ(by_file, sums[direction].bytes);
    std::int64_t by_process = 0;
    for (const ProcessRow& process : report.processes) by_process += process.data[direction].bytes;
    EXPECT_EQ(by_process, sums[direction].bytes);
  }
  EXPECT_EQ(sum(report.ranks.bytes), sums[kReads].bytes + sums[kWrites].bytes);
  std::int64_t class_bytes = 0;
  for (const ClassSum& sum : report.classes) class_bytes += sum.bytes;
  EXPECT_EQ(class_bytes, sums[kReads].bytes + sums[kWrites].bytes);
}

TEST_P(Random, CallsAreCounted) {
  std::map<std::pair<Kind, Interface>, CallRow> expected;
  for (const Event& event : input.events) {
    if (!is_logical(event) && event.kind < Kind::kStart) continue;  // the kinds from kStart on have no level
    CallRow& row = expected[{event.kind, event.interface}];
    ++row.count;
    row.failed += event.result < 0 ? 1 : 0;
    row.time += std::max<std::int64_t>(event.duration, 0);
    row.bytes += is_data(event) ? event.moved() : 0;
  }
  ASSERT_EQ(report.calls.size(), expected.size());
  for (const CallRow& row : report.calls) {
    const CallRow& expected_row = expected.at({row.kind, row.interface});
    EXPECT_EQ(row.count, expected_row.count);
    EXPECT_EQ(row.failed, expected_row.failed);
    EXPECT_EQ(row.time, expected_row.time);
    EXPECT_EQ(row.bytes, expected_row.bytes);
  }
}

TEST_P(Random, OrderFollowsEachOpen) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> ends;
  std::array<Order, 2> expected{};
  for (const Event& event : data) {
    Order& order = expected[event.kind == Kind::kRead ? kReads : kWrites];
    if (event.offset < 0) {
      ++order.consecutive;
      continue;
    }
    const auto found = ends.find({event.process, event.file});
    const std::int64_t end = found == ends.end() ? 0 : found->second;
    const bool before = found != ends.end() && event.offset < end;
    ++(event.offset == end ? order.consecutive : before ? order.random : order.sequential);
    ends[{event.process, event.file}] = event.offset + event.moved();
  }
  for (std::size_t direction = 0; direction < 2; ++direction) {
    EXPECT_EQ(report.totals.order[direction].consecutive, expected[direction].consecutive);
    EXPECT_EQ(report.totals.order[direction].sequential, expected[direction].sequential);
    EXPECT_EQ(report.totals.order[direction].random, expected[direction].random);
  }
}

TEST_P(Random, FilesWithTheSameNameAreOne) {
  std::map<std::string, std::set<std::uint32_t>> processes;
  std::map<std::string, std::set<std::pair<std::uint32_t, std::uint32_t>>> opens;
  std::map<std::string, std::int64_t> extents;
  std::map<std::string, std::int64_t> bytes;
  for (const Event& event : input.events) {
    if (is_data(event) && !is_logical(event)) continue;
    if (!is_logical(event) || event.kind == Kind::kMetadata || (event.kind == Kind::kOpen && event.result < 0))
      continue;
    const std::string name = file_name(input, event);
    processes[name].insert(event.process);
    opens[name].insert({event.process, event.file});
    if (!is_data(event) || event.result < 0) continue;
    bytes[name] += event.moved();
    if (event.offset >= 0 && event.moved() > 0) extents[name] = std::max(extents[name], event.offset + event.moved());
  }
  EXPECT_EQ(report.files.size(), opens.size());
  std::int64_t extent = 0;
  for (const FileRow& file : report.files) {
    EXPECT_EQ(file.data[kReads].bytes + file.data[kWrites].bytes, bytes[file.name]) << file.name;
    EXPECT_EQ(file.opens, static_cast<std::int64_t>(opens[file.name].size())) << file.name;
    EXPECT_EQ(file.processes, static_cast<std::int64_t>(processes[file.name].size())) << file.name;
    EXPECT_EQ(file.extent, extents[file.name]) << file.name;
    extent += file.extent;
  }
  EXPECT_EQ(report.data_bytes, extent);
}

TEST_P(Random, TimeInCallsIsTheUnionOfTheirIntervals) {
  const std::int64_t origin = input.events.front().start;
  std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> all;
  std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> waits;
  for (const Event& event : input.events) {
    if (!is_logical(event)) continue;
    const std::int64_t begin = event.start - origin;
    const std::pair<std::int64_t, std::int64_t> part{begin, begin + std::max<std::int64_t>(event.duration, 0)};
    all[event.process].push_back(part);
    if ((event.flags & flag::kAsynchronous) == 0) waits[event.process].push_back(part);
  }
  std::int64_t io = 0;
  for (const ProcessRow& process : report.processes) {
    EXPECT_EQ(process.io, covered_time(all[process.process.number]));
    EXPECT_EQ(process.waited, covered_time(waits[process.process.number]));
    io += process.io;
  }
  EXPECT_EQ(sum(report.ranks.times), io);
  const Timeline& line = report.timeline;
  ASSERT_EQ(line.busy.size(), line.present.size());
  double busy = 0;
  double present = 0;
  for (std::size_t bin = 0; bin < line.busy.size(); ++bin) {
    busy += line.busy[bin] * line.present[bin];
    present += line.present[bin];
  }
  EXPECT_NEAR(busy, static_cast<double>(io), 1.0);
  std::int64_t presence = 0;
  for (const ProcessRow& process : report.processes) presence += process.end - process.begin;
  EXPECT_NEAR(present, static_cast<double>(presence), 1.0);
}

TEST_P(Random, MapsOfOffsetsContainTheBytes) {
  std::map<std::string, std::array<std::int64_t, 2>> bytes;
  for (const Event& event : data)
    if (event.offset >= 0 && event.moved() > 0)
      bytes[file_name(input, event)][event.kind == Kind::kRead ? kReads : kWrites] += event.moved();
  ASSERT_EQ(report.offsets.size(), bytes.size());
  for (const Offsets& picture : report.offsets)
    for (std::size_t direction = 0; direction < 2; ++direction)
      EXPECT_EQ(sum(picture.bytes[direction]), bytes[picture.file][direction]) << picture.file;
}

TEST_P(Random, LevelsAreJoinedByOperation) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> levels;  // bit 0: has logical events; bit 1: physical ones
  Amplification expected;
  bool physical = false;
  for (const Event& event : input.events) {
    if (!is_data(event)) continue;
    levels[{event.process, event.operation}] |= is_logical(event) ? 1 : 2;
    (is_logical(event) ? expected.logical : expected.physical) += event.moved();
    physical = physical || !is_logical(event);
  }
  constexpr int kBothLevels = 1 | 2;
  for (const auto& [key, level_bits] : levels) expected.joined += level_bits == kBothLevels ? 1 : 0;
  ASSERT_EQ(report.amplification.has_value(), physical);
  if (!physical) return;
  EXPECT_EQ(report.amplification->logical, expected.logical);
  EXPECT_EQ(report.amplification->physical, expected.physical);
  EXPECT_EQ(report.amplification->joined, expected.joined);
  Options options;
  options.logical = false;
  const Report below = input.report(options);
  EXPECT_FALSE(below.logical);
  EXPECT_EQ(below.totals.data[kReads].bytes + below.totals.data[kWrites].bytes, expected.physical);
}

TEST_P(Random, AFilterSelectsEvents) {
  Options options;
  options.file = "*1";
  options.process = 20;
  const Report filtered = input.report(options);
  std::int64_t bytes = 0;
  for (const Event& event : data)
    if (event.process == 20 && file_name(input, event).ends_with("1")) bytes += event.moved();
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(filtered.totals.data[kReads].bytes + filtered.totals.data[kWrites].bytes, bytes);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range(1, 9));

TEST(TraceReport, IsEmptyWithoutEvents) {
  const Report report = TraceInput{}.report();
  EXPECT_EQ(report.totals.events, 0);
  EXPECT_TRUE(report.files.empty());
  EXPECT_TRUE(report.cycles.empty());
  EXPECT_TRUE(report.timeline.busy.empty());
}

TEST(TraceReport, PhysicalRequestsCountWithoutLogicalOnes) {
  TraceInput input;
  input.add(Kind::kOpen, 0);
  for (int i = 0; i < 10; ++i) input.add(Kind::kRead, i, i * 100, 100).flags = 0;
  const Report report = input.report();
  EXPECT_FALSE(report.logical);
  EXPECT_EQ(report.totals.data[kReads].bytes, 1000);
  EXPECT_FALSE(report.amplification.has_value());
}

TEST(TraceReport, ClockIsCpuOnRequestIfAllEventsHaveIt) {
  TraceInput input;
  input.add_process(1, 0, 5000);
  input.add_process(2, 1, 7000);
  input.add(Kind::kRead, 0, 0, 10, 1, 1);
  input.add(Kind::kRead, 5, 0, 10, 1, 2);
  Options options;
  EXPECT_FALSE(input.report().cpu_clock);
  options.cpu = true;
  Report report = input.report(options);
  EXPECT_TRUE(report.cpu_clock);
  EXPECT_EQ(report.totals.cpu, 12000);
  EXPECT_FALSE(report.timeline.cpu);
  input.description.processes[1].cpu = kUnknown;
  report = input.report();
  EXPECT_FALSE(report.cpu_clock);
  EXPECT_EQ(report.totals.cpu, kUnknown);
  EXPECT_THROW(input.report(options), std::exception);
}

TEST(TraceReport, HiddenTimeIsCpuTimeDuringRequestsOfTheProcess) {
  TraceInput input;
  Event& first = input.add(Kind::kRead, 0, 0, 10);
  first.cpu = 0;
  first.duration = 100;
  first.flags |= flag::kAsynchronous;
  Event& second = input.add(Kind::kRead, 60, 10, 10);
  second.cpu = 40;  // 40 of 60 ns computed, all during the first request
  second.duration = 10;
  input.add(Kind::kRead, 200, 20, 10).cpu = 180;  // 140 computed, at most 40 of them before the first ended
  EXPECT_EQ(input.report().processes.at(0).hidden, 80);
}

TEST(TraceReport, ImpossibleNumbersAreReported) {
  TraceInput input;
  input.add(Kind::kRead, INT64_MIN, 0, 10);
  Event& event = input.add(Kind::kWrite, INT64_MAX, INT64_MAX, INT64_MAX);
  event.duration = event.cpu = INT64_MAX;
  const Report report = input.report();
  EXPECT_EQ(report.notes.size(), 1u);
  EXPECT_EQ(report.totals.data[kReads].bytes, 10);
  EXPECT_EQ(report.totals.data[kWrites].count, 1);
}

TEST(TraceReport, OverflowingSumsAreReported) {
  TraceInput input;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    Event& event = input.add(i % 2 == 0 ? Kind::kRead : Kind::kWrite, i, std::int64_t{1} << 61, std::int64_t{1} << 50);
    event.file = 1 + i % 5;
    event.process = 1 + i % 3;
    event.duration = event.cpu = INT64_MAX / 4;
    event.flags |= flag::kAsynchronous;
  }
  const Report report = input.report();
  EXPECT_EQ(report.totals.data[kReads].bytes, INT64_MAX);
  EXPECT_EQ(report.data_bytes, INT64_MAX);
  EXPECT_EQ(report.totals.data_time, INT64_MAX);
  EXPECT_EQ(
      std::count(report.notes.begin(), report.notes.end(), "sums passed 64 bits: they are larger than what is told"),
      1);
}

TEST(TraceReport, ThePhysicalLevelHasOnlyItsOwnCalls) {
  TraceInput input;
  input.add(Kind::kOpen, 0);
  input.add(Kind::kRead, 100, 0, 1000);
  input.add(Kind::kRead, 105, 0, 4096).flags = 0;
  input.add(Kind::kSync, 200).flags = 0;
  input.add(Kind::kClose, 1000);
  Options options;
  options.logical = false;
  const Report report = input.report(options);
  ASSERT_EQ(report.calls.size(), 2u);
  EXPECT_EQ(report.calls[0].bytes, 4096);
  EXPECT_EQ(report.calls[1].kind, Kind::kSync);
  EXPECT_EQ(report.processes.at(0).io, 20);
}

TEST(TraceReport, FilesThatRecurAreCountedOnce) {
  TraceInput input;
  constexpr std::uint32_t kFiles = 100'000;
  input.add_process(1);
  for (std::uint32_t i = 0; i < 3 * kFiles; ++i) {
    const std::uint32_t file = 1 + i % kFiles;
    if (i < kFiles) input.add_file(1, file, "many." + std::to_string(file));
    input.add(Kind::kWrite, i * 10, i / kFiles * 100, 100, file);
  }
  const Report report = input.report();
  EXPECT_EQ(report.files_in_all, kFiles);
  EXPECT_EQ(report.files_left_out.files, kFiles - 1000);
  ClassSum all;
  for (const ClassSum& sum : report.classes) {
    all.files += sum.files;
    all.bytes += sum.bytes;
  }
  EXPECT_EQ(all.files, kFiles);
  EXPECT_EQ(all.bytes, 300 * kFiles);
  EXPECT_EQ(report.notes.size(), 2u);
}

TEST(TraceReport, ManyFilesStayBounded) {
  TraceInput input;
  constexpr std::uint32_t kFiles = 150'000;
  input.add_process(1);
  for (std::uint32_t file = 1; file <= kFiles; ++file) {
    input.add_file(1, file, "many/" + std::to_string(file));
    input.add(Kind::kWrite, file * 10, 0, file == 5000 ? 1'000'000'000 : 100 + file % 7, file);
  }
  const Report report = input.report();
  EXPECT_EQ(report.files.size(), 1000u);
  EXPECT_EQ(report.files.front().name, "many/5000");
  EXPECT_EQ(report.files_in_all, kFiles);
  EXPECT_EQ(report.files_left_out.files, kFiles - 1000);
  EXPECT_EQ(report.notes.size(), 1u);  // checkpoints were not searched in all files
  std::int64_t shown = 0;
  for (const FileRow& file : report.files) shown += file.data[kWrites].bytes;
  EXPECT_EQ(shown + report.files_left_out.bytes, report.totals.data[kWrites].bytes);
  EXPECT_EQ(report.data_bytes, report.totals.data[kWrites].bytes);
  EXPECT_EQ(report.offsets.front().file, "many/5000");
}

TEST(TraceReport, ManyProcessesShareRows) {
  TraceInput input;
  constexpr std::uint32_t kProcesses = 100'000;
  for (std::uint32_t i = 0; i < kProcesses; ++i) input.add(Kind::kWrite, i * 100, 0, 10, 1, i + 1);
  const Report report = input.report();
  EXPECT_EQ(report.processes.size(), kProcesses);
  EXPECT_LE(report.ranks.rows.size(), 512u);
  EXPECT_EQ(report.ranks.merged, 256);
  EXPECT_EQ(sum(report.ranks.bytes), 10 * kProcesses);
}

}  // namespace
}  // namespace plait::trace::report
