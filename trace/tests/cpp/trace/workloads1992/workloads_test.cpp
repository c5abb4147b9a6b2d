// The generated workloads of 1992: their figures and cycles equal those in the paper, E. L. Miller, "Input/Output
// Behavior of Supercomputing Applications" (1992).
#include "plait/workloads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plait/error.hpp"

namespace {

using plait::trace::Event;
using plait::trace::Kind;
using plait::trace::Reader;
using plait::trace::Workload;
using plait::trace::WorkloadOptions;

constexpr double kMiB = 1024 * 1024;

/// The figures that sections 3 and 5 of the paper define, computed from single events.
struct Sums {
  double seconds = 0;  // CPU seconds
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  double read_bytes = 0;
  double written_bytes = 0;
  std::map<std::uint32_t, std::int64_t> ends;  // end of each file
  std::vector<double> rate;                    // bytes in each tenth of a CPU second
  std::vector<Event> first;                    // the first 1000 events

  double data() const {
    double bytes = 0;
    for (const auto& [file, end] : ends) bytes += static_cast<double>(end);
    return bytes;
  }
};

Sums add_up(Reader& reader) {
  Sums sums;
  std::vector<Event> output(1000);
  while (const std::size_t count = reader.read(output)) {
    for (std::size_t k = 0; k < count; ++k) {
      const Event& event = output[k];
      if (sums.first.size() < 1000) sums.first.push_back(event);
      if (event.kind == Kind::kExit) sums.seconds = static_cast<double>(event.cpu) / 1e9;
      if (event.kind != Kind::kRead && event.kind != Kind::kWrite) continue;
      const auto bytes = static_cast<double>(event.moved());
      (event.kind == Kind::kRead ? sums.reads : sums.writes) += 1;
      (event.kind == Kind::kRead ? sums.read_bytes : sums.written_bytes) += bytes;
      auto& end = sums.ends[event.file];
      end = std::max(end, event.offset + event.length);
      const auto slot = static_cast<std::size_t>(event.cpu / 100'000'000);
      if (sums.rate.size() <= slot) sums.rate.resize(slot + 1);
      sums.rate[slot] += bytes;
    }
  }
  return sums;
}

/// Average request sizes in table 1, in MiB. The table exchanges the values of upw and venus; they are corrected here.
const std::map<std::string_view, double> kAverages{{"bvi", .016}, {"ccm", .031}, {"forma", .030}, {"gcm", .031},
                                                   {"les", .317}, {"upw", .032}, {"venus", .445}};

/// Returns the difference of a figure from that of the paper, in percent.
double percent_off(double actual, double published) { return 100 * (actual / published - 1); }

class Workloads : public testing::TestWithParam<Workload> {};

TEST_P(Workloads, HaveTheFiguresOfThePaper) {
  const Workload& paper = GetParam();
  for (const std::uint64_t seed : {1, 77}) {
    const auto reader = plait::trace::workload(paper.name, {.seed = seed});
    const Sums sums = add_up(*reader);
    const auto expect_near = [&](const char* what, double actual, double published) {
      EXPECT_LT(std::abs(percent_off(actual, published)), 5)
          << paper.name << ": " << what << " " << actual << ", not " << published;
      if (seed == 1) RecordProperty(what, std::to_string(percent_off(actual, published)));
    };
    const double total = sums.read_bytes + sums.written_bytes;
    const auto requests = static_cast<double>(sums.reads + sums.writes);
    EXPECT_DOUBLE_EQ(sums.seconds, paper.seconds);
    EXPECT_EQ(sums.reads + sums.writes, paper.requests);
    expect_near("data_size", sums.data() / kMiB, paper.data_mb);
    expect_near("total", total / kMiB, paper.total_mb);
    expect_near("total_in_millions", total / 1e6, paper.total_mb);
    expect_near("total_rate", total / kMiB / sums.seconds, paper.total_mb / paper.seconds);
    expect_near("average", total / requests / kMiB, kAverages.at(paper.name));
    expect_near("request_rate", requests / sums.seconds, static_cast<double>(paper.requests) / paper.seconds);
    expect_near("request_kb", total / requests / 1024, paper.request_kb);
    expect_near("read_rate", sums.read_bytes / kMiB / sums.seconds, paper.read_mb);
    expect_near("write_rate", sums.written_bytes / kMiB / sums.seconds, paper.write_mb);
    expect_near("reads_rate", static_cast<double>(sums.reads) / sums.seconds, paper.reads);
    expect_near("writes_rate", static_cast<double>(sums.writes) / sums.seconds, paper.writes);
    expect_near("ratio", sums.read_bytes / sums.written_bytes, paper.ratio);
  }
}

/// Returns the lag, in tenths of a second, with the largest autocorrelation of the data rate.
double find_period(const std::vector<double>& rate, double min_lag, double max_lag) {
  double mean = 0;
  for (const double value : rate) mean += value / static_cast<double>(rate.size());
  double best = 0;
  double best_lag = 0;
  for (auto lag = static_cast<std::size_t>(min_lag); lag <= static_cast<std::size_t>(max_lag); ++lag) {
    double product = 0;
    for (std::size_t k = 0; k + lag < rate.size(); ++k) product += (rate[k] - mean) * (rate[k + lag] - mean);
    product /= static_cast<double>(rate.size() - lag);
    if (product > best) best = product, best_lag = static_cast<double>(lag);
  }
  return best_lag / 10;
}

TEST_P(Workloads, HaveTheCyclesOfThePaper) {
  const Workload& paper = GetParam();
  const Sums sums = add_up(*plait::trace::workload(paper.name));
  if (paper.cycles == 0) return;
  const double actual = find_period(sums.rate, paper.period * 5, paper.period * 17);
  EXPECT_NEAR(actual, paper.period, 0.05 * paper.period + 0.1) << paper.name;
  // Bursts: most of the data is transferred in a small part of the time.
  std::vector<double> sorted = sums.rate;
  std::sort(sorted.rbegin(), sorted.rend());
  double total = 0;
  double top = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) (k < sorted.size() / 2 ? top : total) += sorted[k];
  EXPECT_GT(top / (top + total), 0.9) << paper.name;
}

INSTANTIATE_TEST_SUITE_P(All, Workloads,
                         testing::ValuesIn(plait::trace::workloads().begin(), plait::trace::workloads().end()),
                         [](const auto& workload_info) { return std::string(workload_info.param.name); });

TEST(WorkloadTest, PeaksExceed200MegabytesASecondForSeconds) {
  for (const char* name : {"bvi", "forma", "les"}) {
    const Sums sums = add_up(*plait::trace::workload(name));
    int longest = 0;
    int run = 0;
    for (const double bytes : sums.rate) longest = std::max(longest, run = bytes * 10 > 2e8 ? run + 1 : 0);
    EXPECT_GE(longest, 14) << name << ": tenths of a CPU second";
  }
}

TEST(WorkloadTest, EventsAreInOrderAndConsistent) {
  for (const Workload& program : plait::trace::workloads()) {
    const auto reader = plait::trace::workload(program.name, {.copies = 3});
    std::vector<Event> output(777);
    std::int64_t last = 0;
    std::map<std::uint32_t, std::int64_t> cpu;
    std::map<std::uint32_t, std::int64_t> busy_until;
    std::set<std::pair<std::uint32_t, std::uint32_t>> open;
    while (const std::size_t count = reader->read(output)) {
      for (std::size_t k = 0; k < count; ++k) {
        const Event& event = output[k];
        ASSERT_GE(event.start, last) << program.name;
        last = event.start;
        ASSERT_GE(event.cpu, cpu[event.process]) << program.name;
        cpu[event.process] = event.cpu;
        ASSERT_GE(event.duration, 0) << program.name;
        // A waiting process makes no requests meanwhile.
        ASSERT_GE(event.start, busy_until[event.process]) << program.name;
        if ((event.flags & plait::trace::flag::kAsynchronous) == 0)
          busy_until[event.process] = event.start + event.duration;
        if (event.kind == Kind::kOpen) {
          ASSERT_TRUE(open.emplace(event.process, event.file).second);
        }
        if (event.kind == Kind::kRead || event.kind == Kind::kWrite) {
          ASSERT_EQ(open.count({event.process, event.file}), 1u) << program.name;
          ASSERT_GE(event.offset, 0);
          ASSERT_EQ(event.offset % 512, 0);
          ASSERT_GT(event.length, 0);
          ASSERT_EQ(event.result, event.length);
        }
        if (event.kind == Kind::kClose) open.erase({event.process, event.file});
      }
    }
    EXPECT_TRUE(open.empty()) << program.name;
    EXPECT_EQ(reader->description().processes.size(), 3u);
    for (const auto& [process, time] : cpu)
      EXPECT_EQ(time, std::int64_t{1'000'000'000} * program.seconds) << program.name;
  }
}

TEST(WorkloadTest, CopiesShareNoFilesAndTransferTheSame) {
  const Sums single = add_up(*plait::trace::workload("venus"));
  const auto three = plait::trace::workload("venus", {.copies = 3, .offset = 1'500'000'000});
  const Sums sums = add_up(*three);
  EXPECT_EQ(sums.reads, 3 * single.reads);
  EXPECT_EQ(sums.written_bytes, 3 * single.written_bytes);
  std::set<std::string> names;
  for (const auto& file : three->description().files) EXPECT_TRUE(names.insert(file.name).second) << file.name;
  EXPECT_EQ(names.size(), 3u * 8);
}

TEST(WorkloadTest, SeedsVaryTimesAndNothingElse) {
  const Sums a = add_up(*plait::trace::workload("les", {.seed = 1}));
  const Sums again = add_up(*plait::trace::workload("les", {.seed = 1}));
  const Sums b = add_up(*plait::trace::workload("les", {.seed = 2}));
  EXPECT_EQ(a.first, again.first);
  EXPECT_NE(a.first, b.first);
  EXPECT_EQ(a.read_bytes, b.read_bytes);
}

TEST(WorkloadTest, AreTheSameOnEveryMachine) {
  // A checksum of all events, computed once; every machine must compute the same.
  const auto reader = plait::trace::workload("venus", {.seed = 3, .copies = 2});
  std::vector<Event> output(512);
  std::uint64_t checksum = 1469598103934665603u;
  while (const std::size_t count = reader->read(output))
    for (std::size_t k = 0; k < count; ++k)
      for (const std::int64_t value : {output[k].start, output[k].duration, output[k].cpu, output[k].offset,
                                       output[k].length, std::int64_t{output[k].process}, std::int64_t{output[k].file}})
        checksum = (checksum ^ static_cast<std::uint64_t>(value)) * 1099511628211u;
  EXPECT_EQ(checksum, 15982138669119948011u);
}

TEST(WorkloadTest, NamesOfTracesOpenThem) {
  const auto named = plait::trace::open_trace("workload:les?seed=5&copies=2&offset=0.25&burst=500");
  const auto made = plait::trace::workload("les", {.seed = 5, .copies = 2, .offset = 250'000'000, .burst = 500});
  EXPECT_EQ(add_up(*named).first, add_up(*made).first);
}

TEST(WorkloadTest, RejectInvalidSettings) {
  const auto message = [](const std::string& name) -> std::string {
    try {
      plait::trace::open_trace(name);
    } catch (const plait::Error& error) {
      EXPECT_EQ(error.kind(), plait::ErrorKind::kArgument);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("workload:mars").find("bvi, ccm, forma, gcm, les, upw, venus"), std::string::npos);
  EXPECT_NE(message("workload:les?copies=0").find("from 1 to 4096"), std::string::npos);
  EXPECT_NE(message("workload:les?copies=x").find("'x'"), std::string::npos);
  EXPECT_NE(message("workload:les?speed=2").find("'speed'"), std::string::npos);
  EXPECT_NE(message("workload:les?burst=1001").find("1000"), std::string::npos);
  EXPECT_NE(message("workload:les?burst=0").find("1000"), std::string::npos);
  EXPECT_NE(message("workload:les?offset=-1").find("offset"), std::string::npos);
  EXPECT_NE(message("workload:les?offset=nan").find("offset"), std::string::npos);
  EXPECT_NE(message("workload:les?seed=99999999999999999999").find("number"), std::string::npos);
}

}  // namespace
