// Cycles of a program, such as a burst of writes every 3.75 s: they are detected with their period, and not detected in
// other patterns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plait/workloads.hpp"
#include "trace_report_case.hpp"

namespace plait::trace::report {
namespace {

constexpr double kSecond = 1e9;

/// Generates requests, and sorts them by time before the analysis.
class Requests {
 public:
  explicit Requests(unsigned seed) : random_(seed) {}
  double uniform(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }
  double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(random_); }

  void add(double seconds, std::int64_t bytes = 65536, Kind kind = Kind::kRead, std::uint32_t file = 1) {
    input_.add(kind, std::llround((seconds + 1) * kSecond), 0, bytes, file);
  }
  /// Adds `count` requests at equal distances in an interval.
  void burst(double begin, double length, int count, Kind kind = Kind::kRead, std::uint32_t file = 1) {
    for (int i = 0; i < count; ++i) add(begin + length * i / count, 65536, kind, file);
  }
  Report report() {
    std::stable_sort(input_.events.begin(), input_.events.end(),
                     [](const Event& a, const Event& b) { return a.start < b.start; });
    return input_.report();
  }
  std::vector<Cycle> cycles(const std::string& what = "all") {
    std::vector<Cycle> found;
    for (const Cycle& cycle : report().cycles)
      if (cycle.what == what) found.push_back(cycle);
    return found;
  }
  TraceInput& input() { return input_; }

 private:
  std::mt19937 random_;
  TraceInput input_;
};

std::string describe(const std::vector<Cycle>& cycles) {
  std::string text;
  for (const Cycle& cycle : cycles)
    text += std::to_string(cycle.period / kSecond) + " s x" + std::to_string(cycle.count) + " strength " +
            std::to_string(cycle.strength) + "; ";
  return text.empty() ? "none" : text;
}

bool has_cycle(const std::vector<Cycle>& cycles, double seconds, double tolerance) {
  return std::any_of(cycles.begin(), cycles.end(),
                     [&](const Cycle& cycle) { return std::abs(cycle.period / kSecond / seconds - 1) <= tolerance; });
}

/// Parameters: the number of cycles, the fraction of each period in which requests are made, and the standard deviation
/// of the start of a cycle as a fraction of the period.
class RegularCycles : public testing::TestWithParam<std::tuple<int, double, double>> {};

TEST_P(RegularCycles, AreFoundWithTheirPeriod) {
  const auto [count, duty, jitter] = GetParam();
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Requests requests(seed);
    constexpr double kPeriod = 3.75;
    for (int cycle = 0; cycle < count; ++cycle)
      requests.burst(std::max(0.0, kPeriod * (cycle + requests.normal(jitter))), kPeriod * duty, 60);
    const std::vector<Cycle> found = requests.cycles();
    ASSERT_FALSE(found.empty()) << "seed " << seed;
    const Cycle& best = found.front();
    EXPECT_NEAR(best.period / kSecond, kPeriod, kPeriod * (count >= 10 ? 0.02 : 0.05)) << describe(found);
    EXPECT_NEAR(static_cast<double>(best.count), count, count >= 10 ? 1 + count * 0.02 : 1) << describe(found);
    EXPECT_LE(best.strength, 1.0);
    EXPECT_GT(best.regularity, 0.7);
    if (count >= 10) {
      EXPECT_NEAR(best.bytes, 60 * 65536.0, 60 * 65536.0 * 0.15);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Duties, RegularCycles,
                         testing::Combine(testing::Values(4, 10, 37, 200), testing::Values(0.05, 0.2, 0.5, 0.8, 0.95),
                                          testing::Values(0.0, 0.01)));
INSTANTIATE_TEST_SUITE_P(Three, RegularCycles,
                         testing::Combine(testing::Values(3), testing::Values(0.05, 0.2, 0.5), testing::Values(0.0)));
INSTANTIATE_TEST_SUITE_P(Jitter, RegularCycles,
                         testing::Combine(testing::Values(12, 60), testing::Values(0.2, 0.5), testing::Values(0.05)));

TEST(Cycles, GrowingLengthsAreFollowed) {
  Requests requests(1);
  double start = 0;
  for (int cycle = 0; cycle < 40; ++cycle) {
    requests.burst(start, 0.5, 50);
    start += 2.0 + 0.002 * cycle;
  }
  const std::vector<Cycle> found = requests.cycles();
  ASSERT_FALSE(found.empty());
  EXPECT_NEAR(found.front().period / kSecond, 2.039, 0.04) << describe(found);
}

TEST(Cycles, AreNotDetectedInASteadyRate) {
  for (const int count : {100, 1000, 3001, 40000}) {
    for (const double jitter : {0.0, 0.3}) {
      Requests requests(static_cast<unsigned>(count));
      for (int i = 0; i < count; ++i) requests.add(0.0137 * (i + requests.uniform(0, jitter)));
      EXPECT_TRUE(requests.cycles().empty()) << count << ", " << jitter << ": " << describe(requests.cycles());
    }
  }
}

TEST(Cycles, AreNotDetectedInARoundedSteadyRate) {
  for (const auto& [count, gap, bytes] : {std::tuple{2999, 1'000'000, 1000},
                                          {3000, 1'000'000, 1000},
                                          {3000, 1'000'000, 4000},
                                          {3001, 1'000'000, 1000},
                                          {6000, 1'000'000, 1000},
                                          {20000, 1'000'000, 4000},
                                          {3000, 1'000, 1}}) {
    TraceInput input;
    for (std::int64_t i = 0; i < count; ++i) input.add(Kind::kRead, i * gap, i * bytes, bytes);
    const Report report = input.report();
    EXPECT_TRUE(report.cycles.empty()) << count << " of " << bytes << ": " << describe(report.cycles);
  }
}

TEST(Cycles, AreNotDetectedInNoise) {
  int detections = 0;
  std::string text;
  for (unsigned seed = 1; seed <= 9; ++seed) {
    Requests requests(seed);
    const int count = seed % 3 == 0 ? 200 : seed % 3 == 1 ? 2000 : 20000;
    for (int i = 0; i < count; ++i) requests.add(requests.uniform(0, 100));
    const std::vector<Cycle> found = requests.cycles();
    detections += found.empty() ? 0 : 1;
    if (!found.empty()) text += std::to_string(count) + ": " + describe(found);
  }
  EXPECT_LE(detections, 1) << text;
}

TEST(Cycles, AreNotDetectedInATrend) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Requests requests(seed);
    for (int i = 0; i < 5000; ++i) requests.add(100 * std::sqrt(requests.uniform(0, 1)));
    EXPECT_TRUE(requests.cycles().empty()) << describe(requests.cycles());
  }
}

TEST(Cycles, AreNotDetectedInOneOrTwoBursts) {
  for (const double length : {0.01, 1.0, 20.0}) {
    Requests one(1);
    one.add(0);
    one.burst(30, length, 400);
    one.add(100);
    EXPECT_TRUE(one.cycles().empty()) << describe(one.cycles());
    one.burst(60, length, 400);
    EXPECT_TRUE(one.cycles().empty()) << describe(one.cycles());
  }
}

TEST(Cycles, AreRarelyDetectedInAFewRandomBursts) {
  int detections = 0;
  for (unsigned seed = 1; seed <= 16; ++seed) {
    Requests requests(seed);
    for (int i = 0; i < 8; ++i) requests.burst(requests.uniform(0, 200), 1, 40);
    detections += requests.cycles().empty() ? 0 : 1;
  }
  EXPECT_LE(detections, 2);
}

TEST(Cycles, OfDataAndOfCheckpointsAreBothDetected) {
  Requests requests(1);
  requests.input().add_file(1, 1, "data");
  requests.input().add_file(1, 2, "checkpoint");
  for (int cycle = 0; cycle < 100; ++cycle) {
    requests.burst(3.75 * cycle, 1, 40);
    if (cycle % 10 == 9) requests.burst(3.75 * cycle + 2, 1, 60, Kind::kWrite, 2);
  }
  const std::vector<Cycle> all = requests.cycles();
  EXPECT_TRUE(has_cycle(all, 3.75, 0.02)) << describe(all);
  EXPECT_TRUE(has_cycle(all, 37.5, 0.02)) << describe(all);
  EXPECT_TRUE(has_cycle(requests.cycles("writes"), 37.5, 0.02)) << describe(requests.cycles("writes"));
  EXPECT_TRUE(has_cycle(requests.cycles("checkpoint"), 37.5, 0.02)) << describe(requests.cycles("checkpoint"));
  EXPECT_TRUE(has_cycle(requests.cycles("data"), 3.75, 0.02));
  EXPECT_FALSE(has_cycle(requests.cycles("data"), 37.5, 0.02));
}

TEST(Cycles, HaveThePeriodAndNotItsHalf) {
  Requests requests(1);
  for (int cycle = 0; cycle < 30; ++cycle) {
    requests.burst(5.0 * cycle, 0.5, 90);
    requests.burst(5.0 * cycle + 2.5, 0.5, 30);
  }
  const std::vector<Cycle> found = requests.cycles();
  ASSERT_FALSE(found.empty());
  EXPECT_NEAR(found.front().period / kSecond, 5.0, 0.1) << describe(found);
}

TEST(Cycles, AreDetectedAfterALargeFirstBurst) {
  Requests requests(1);
  requests.burst(0, 4, 20000);
  for (int cycle = 0; cycle < 20; ++cycle) requests.burst(10 + 5.0 * cycle, 0.7, 40);
  const std::vector<Cycle> found = requests.cycles();
  EXPECT_TRUE(has_cycle(found, 5.0, 0.02)) << describe(found);
}

TEST(Cycles, OfTheWorkloadsHaveTheirPeriodAndCount) {
  for (const Workload& program : workloads()) {
    if (program.requests > 1'000'000) continue;  // like the others, but slow
    const auto reader = workload(program.name);
    Options by_cpu;
    by_cpu.cpu = true;
    const Report report = analyse(*reader, by_cpu);
    EXPECT_TRUE(report.cpu_clock);
    const std::vector<Cycle>& found = report.cycles;
    if (program.cycles == 0) {
      EXPECT_TRUE(found.empty()) << program.name << ": " << describe(found);
      continue;
    }
    ASSERT_FALSE(found.empty()) << program.name;
    EXPECT_NEAR(found.front().period / kSecond, program.period, program.period * 0.05) << program.name;
    EXPECT_NEAR(static_cast<double>(found.front().count), program.cycles, 1) << program.name;
  }
}

}  // namespace
}  // namespace plait::trace::report
