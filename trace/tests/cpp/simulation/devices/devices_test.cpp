// The simulated devices: the times of a few requests, computed by hand, and queueing theory for a single server.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/random_bits.hpp"
#include "plait/error.hpp"
#include "simulation/devices/device_kind.hpp"
#include "simulation/devices/flushed.hpp"
#include "simulation/devices/request_order.hpp"
#include "simulation/devices/tier.hpp"

namespace plait::simulation {
namespace {

constexpr Time kMs = 1'000'000;
constexpr std::int64_t kMiB = 1 << 20;

/// Submits requests at given times, and records when they end.
class Load final : public Completion, public Timer {
 public:
  void done(std::uint64_t tag) override { ends[tag] = clock.now(); }
  void fire(std::uint64_t token) override { device->submit(requests[token]); }

  void add(Time time, DeviceRequest request) {
    request.tag = requests.size();
    starts.push_back(time);
    requests.push_back(request);
    clock.schedule(time, *this, request.tag);
  }
  void make(const DeviceSpec& spec, std::int64_t span = 1000 * kMiB) {
    device = make_device(spec, {clock, *this, spec.kind, span});
  }
  std::vector<DeviceUse> run() {
    while (!clock.empty()) clock.run_next();
    std::vector<DeviceUse> uses;
    device->report(uses);
    return uses;
  }
  Time took(std::uint64_t tag) const { return ends.at(tag) - starts[tag]; }

  EventQueue clock;
  std::unique_ptr<Device> device;
  std::vector<DeviceRequest> requests;
  std::vector<Time> starts;
  std::map<std::uint64_t, Time> ends;
};

/// A single server with Poisson arrivals and a mean service time of 1 ms.
class Arrivals final : public Completion, public Timer {
 public:
  Arrivals(double load, double distribution)
      : load_(load),
        server_(make_device({"server", {{"service", 0.001}, {"distribution", distribution}, {"seed", 7}}},
                            {clock_, *this, "server", 1})) {}

  /// The mean number of requests in the server.
  double mean_inside() {
    fire(0);
    while (!clock_.empty()) clock_.run_next();
    std::vector<DeviceUse> uses;
    server_->report(uses);
    return uses[0].inside / static_cast<double>(clock_.now());
  }

 private:
  void done(std::uint64_t) override {}
  void fire(std::uint64_t) override {
    if (++count_ > 1) server_->submit({0, 1, false, 0});
    if (count_ > 1'000'000) return;
    time_ += -std::log(bits_.share()) * 1e6 / load_;
    clock_.schedule(static_cast<Time>(time_), *this);
  }

  EventQueue clock_;
  double load_;
  std::unique_ptr<Device> server_;
  base::RandomBits bits_{3};
  double time_ = 0;
  int count_ = 0;
};

double mean_inside(double load, double distribution) { return Arrivals(load, distribution).mean_inside(); }

// The mean number L of requests in a server with the load rho is, for constant service times (M/D/1),
// L = rho + rho^2 / (2 (1 - rho)), and for exponential ones (M/M/1), L = rho / (1 - rho).
TEST(Devices, OneServerWithConstantServiceMeetsTheMeanOfMD1) {
  EXPECT_NEAR(mean_inside(0.5, 0) / 0.75, 1, 0.01);
  EXPECT_NEAR(mean_inside(0.7, 0) / (0.7 + 0.49 / 0.6), 1, 0.01);
}
TEST(Devices, OneServerWithExponentialServiceMeetsTheMeanOfMM1) {
  EXPECT_NEAR(mean_inside(0.3, 1) / (0.3 / 0.7), 1, 0.01);
  EXPECT_NEAR(mean_inside(0.6, 1) / 1.5, 1, 0.01);
}

TEST(Devices, TheDiskOf1992HasNoQueueAndTakesTimeByDistance) {
  Load load;
  load.make({"distance", {{"rate", 100e6}, {"follow", 0.001}, {"near", 0.004}, {"far", 0.012}, {"span", 4e8}}});
  load.add(0, {0, 1'000'000, false, 0});            // at the start: the time of sequential requests
  load.add(0, {1'000'000, 1'000'000, true, 0});     // sequential, at the same time: not queued
  load.add(0, {102'000'000, 1'000'000, true, 0});   // a quarter of the span away: halfway between near and far
  load.add(0, {900'000'000, 1'000'000, false, 0});  // beyond the span: far
  const auto uses = load.run();
  EXPECT_EQ(load.took(0), 11 * kMs);
  EXPECT_EQ(load.took(1), 11 * kMs);
  EXPECT_EQ(load.took(2), 18 * kMs);
  EXPECT_EQ(load.took(3), 22 * kMs);
  EXPECT_EQ(uses[0].max_inside, 4);
  EXPECT_EQ(uses[0].reads, 2);
  EXPECT_EQ(uses[0].write_bytes, 2'000'000);
}

TEST(Devices, AQueueingDiskServesOneAfterTheOther) {
  Load load;
  const DeviceValues values{{"rate", 100e6},   {"seek_near", 0.002}, {"seek_far", 0.010}, {"rotation", 0.008},
                            {"capacity", 3e9}, {"overhead", 0},      {"order", 0}};
  load.make({"disk", values});
  load.add(0, {0, 1'000'000, false, 0});              // at the head position: the transfer only
  load.add(0, {1'001'000'000, 1'000'000, false, 0});  // a third of the disk away: seeks 6 ms, half a revolution 4 ms
  load.add(0, {1'002'000'000, 1'000'000, false, 0});  // sequential
  load.run();
  EXPECT_EQ(load.ends[0], 10 * kMs);
  EXPECT_NEAR(static_cast<double>(load.ends[1]), 30.0 * kMs, 2000);
  EXPECT_EQ(load.ends[2] - load.ends[1], 10 * kMs);
}

TEST(Devices, OrdersOfRequests) {
  const auto order = [](OrderKind kind, Time limit) {
    RequestOrder waiting(kind, limit, limit);
    for (const std::int64_t address : {50, 10, 90, 30}) waiting.add(0, {address, 1, false, 0});
    std::string served;
    std::int64_t head = 40;
    while (!waiting.empty()) {
      head = waiting.take(20, head).address;
      served += std::to_string(head) + " ";
    }
    return served;
  };
  EXPECT_EQ(order(OrderKind::kFifo, 100), "50 10 90 30 ");
  EXPECT_EQ(order(OrderKind::kElevator, 100), "50 90 10 30 ");
  EXPECT_EQ(order(OrderKind::kDeadline, 100), "50 90 10 30 ");
  EXPECT_EQ(order(OrderKind::kDeadline, 18), "50 10 90 30 ");  // the deadlines of all have passed
}

TEST(Devices, ARequestPastItsDeadlineComesFirst) {
  RequestOrder waiting(OrderKind::kDeadline, 10, 100);
  waiting.add(0, {500, 1, false, 0});
  waiting.add(0, {600, 1, true, 0});
  waiting.add(0, {100, 1, true, 0});
  EXPECT_EQ(waiting.take(5, 0).address, 100);     // no deadline has passed: ascending addresses
  EXPECT_EQ(waiting.take(20, 550).address, 500);  // the deadline of the read has passed
  EXPECT_EQ(waiting.take(20, 550).address, 600);
  EXPECT_TRUE(waiting.empty());
}

TEST(Devices, StripesGoToTheDevicesOnce) {
  Load load;
  load.make({"server", {{"service", 0.001}, {"rate", 1e6}}, 4, 1000});
  load.add(0, {500, 9000, true, 0});  // 500 + 8 stripes + 500: the devices write 2500, 2500, 2000 and 2000 bytes
  const auto uses = load.run();
  ASSERT_EQ(uses.size(), 4);
  const std::int64_t expected[] = {500 + 1000 + 1000, 1000 + 1000 + 500, 2000, 2000};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(uses[k].writes, 1);
    EXPECT_EQ(uses[k].write_bytes, expected[k]);
  }
  EXPECT_EQ(load.ends[0], kMs + 2'500'000);
}

TEST(Devices, StripesAddUpForAnyRequest) {
  base::RandomBits bits(1);
  for (int k = 0; k < 500; ++k) {
    const auto count = static_cast<std::int64_t>(2 + bits.next() % 6);
    const auto stripe = static_cast<std::int64_t>(1 + bits.next() % 50);
    Load load;
    load.make({"server", {}, count, stripe});
    const auto address = static_cast<std::int64_t>(bits.next() % 1000);
    const auto length = static_cast<std::int64_t>(1 + bits.next() % 1000);
    load.add(0, {address, length, false, 0});
    const auto uses = load.run();
    std::vector<std::int64_t> expected(static_cast<std::size_t>(count), 0);
    for (std::int64_t byte = address; byte < address + length; ++byte)
      ++expected[static_cast<std::size_t>(byte / stripe % count)];
    for (std::size_t device = 0; device < expected.size(); ++device)
      EXPECT_EQ(uses[device].read_bytes, expected[device]);
  }
}

TEST(Devices, ChannelsOfAnSsdWorkAtOnceAndGarbageCollectionStopsThem) {
  Load load;
  load.make({"ssd",
             {{"channels", 4},
              {"page", 1000},
              {"read_latency", 0.001},
              {"write_latency", 0.002},
              {"read_rate", 4e6},
              {"write_rate", 4e6},
              {"collect_after", 8000},
              {"collect_time", 0.050}}});
  load.add(0, {0, 1000, false, 0});          // one page: 1 ms, and 1000 bytes at 1 MB/s
  load.add(10 * kMs, {0, 4000, false, 0});   // one page of each channel
  load.add(20 * kMs, {0, 8000, false, 0});   // two pages of each channel
  load.add(30 * kMs, {500, 8000, true, 0});  // nine pages; garbage collection follows
  load.add(31 * kMs, {0, 1000, false, 0});   // waits for the garbage collection
  const auto uses = load.run();
  EXPECT_EQ(load.took(0), 2 * kMs);
  EXPECT_EQ(load.took(1), 2 * kMs);
  EXPECT_EQ(load.took(2), 3 * kMs);
  EXPECT_EQ(load.took(3), 4 * kMs);
  EXPECT_EQ(load.ends[4], 34 * kMs + 50 * kMs + 2 * kMs);
  EXPECT_EQ(uses[0].stalled, 50 * kMs);
}

TEST(Devices, AVolumeLimitsBytesAndRequestsAndSavesCredit) {
  const DeviceValues values{{"read_rate", 1e6},      {"write_rate", 2e6},     {"read_requests", 100},
                            {"write_requests", 50},  {"write_unit", 4000},    {"burst", 0.030},
                            {"read_latency", 0.001}, {"write_latency", 0.002}};
  Load load;
  load.make({"volume", values});
  for (int k = 0; k < 5; ++k) load.add(0, {0, 1000, false, 0});  // 10 ms each; the credit covers three
  load.add(1000 * kMs, {0, 50'000, false, 0});                   // bytes: 50 ms, of which the credit covers 30 ms
  load.add(1000 * kMs, {0, 8000, true, 0});                      // two requests of 20 ms; writes have separate limits
  load.run();
  EXPECT_EQ(load.ends[2], 1 * kMs);
  EXPECT_EQ(load.ends[3], 11 * kMs);
  EXPECT_EQ(load.ends[4], 21 * kMs);
  EXPECT_EQ(load.took(5), 50 * kMs - 30 * kMs + 1 * kMs);
  EXPECT_EQ(load.took(6), 12 * kMs);
}

TEST(Devices, LimitsOfAVolumeMayBeThoseOfReadsAndWritesTogether) {
  const auto took = [](double together) {
    Load load;
    load.make({"volume",
               {{"read_requests", 100},
                {"write_requests", 100},
                {"burst", 0},
                {"limits", together},
                {"read_latency", 0},
                {"write_latency", 0}}});
    load.add(0, {0, 1, false, 0});
    load.add(0, {0, 1, true, 0});
    load.run();
    return load.took(1);
  };
  EXPECT_EQ(took(0), 10 * kMs);
  EXPECT_EQ(took(1), 20 * kMs);
}

TEST(Devices, AFlushWritesAndThenTakesItsTime) {
  Load load;
  DeviceSpec spec{"server", {{"service", 0.010}}};
  spec.flush = 3 * kMs;
  spec.flush_writes = 2;
  load.device = std::make_unique<FlushedDevice>(DeviceSite{load.clock, load, "server", 1 << 20}, spec);
  load.add(0, {.address = 0, .length = 4096, .write = true});
  load.add(100 * kMs, {.write = true, .flush = true});
  load.add(100 * kMs, {.write = true, .flush = true});
  load.add(121 * kMs, {.address = 0, .length = 4096});  // after the writes of the flushes
  const auto uses = load.run();
  EXPECT_EQ(load.took(0), 10 * kMs);
  EXPECT_EQ(load.took(1), 2 * 10 * kMs + 10 * kMs + 3 * kMs);  // the server alternates between the two
  EXPECT_EQ(load.took(2), 40 * kMs + 3 * kMs);
  EXPECT_EQ(load.ends[3], 150 * kMs);
  ASSERT_EQ(uses.size(), 1);
  EXPECT_EQ(uses[0].flushes, 2);
  EXPECT_EQ(uses[0].writes, 5);
}

TEST(Devices, ServersAndTheLinkOfAParallelFileSystem) {
  const DeviceValues values{{"servers", 4},      {"unit", 1000},     {"read_rate", 1e6},
                            {"write_rate", 5e5}, {"latency", 0.001}, {"link_rate", 2e6}};
  Load load;
  load.make({"servers", values});
  load.add(0, {0, 4000, false, 0});           // the servers need 1 + 1 ms, the link needs 2 ms
  load.add(100 * kMs, {0, 1000, true, 0});    // the link needs 0.5 ms, then a server needs 1 + 2 ms
  load.add(200 * kMs, {0, 16000, false, 0});  // the link needs 8 ms, the servers need 5 ms
  load.run();
  EXPECT_EQ(load.took(0), 2 * kMs);
  EXPECT_EQ(load.took(1), 3'500'000);
  EXPECT_EQ(load.took(2), 8 * kMs);
}

TEST(Devices, ATierServesItsBlocksAndWritesBehind) {
  Load load;
  const DeviceSpec slow{"server", {{"service", 0.010}}};
  const TierSpec tier{4096, 1024, "lru", {"server", {{"service", 0.001}}}};
  load.device = std::make_unique<TieredDevice>(DeviceSite{load.clock, load, "slow", 1 << 20}, tier, slow);
  load.add(0, {0, 2048, false, 0});              // not in the tier
  load.add(100 * kMs, {0, 2048, false, 0});      // in the tier
  load.add(200 * kMs, {1024, 2048, false, 0});   // half of it is in the tier
  load.add(300 * kMs, {8192, 1024, true, 0});    // to the tier; later to the slow device
  load.add(400 * kMs, {16384, 65536, true, 0});  // larger than the tier: at the speed of the device
  const auto uses = load.run();
  EXPECT_EQ(load.took(0), 10 * kMs);
  EXPECT_EQ(load.took(1), 1 * kMs);
  EXPECT_EQ(load.took(2), 10 * kMs);
  EXPECT_EQ(load.took(3), 1 * kMs);
  EXPECT_EQ(load.took(4), 10 * kMs);
  ASSERT_EQ(uses.size(), 2);
  EXPECT_EQ(uses[0].name, "tier");
  EXPECT_EQ(uses[0].hits, 1);
  EXPECT_EQ(uses[0].hit_bytes, 2048 + 1024);
  EXPECT_EQ(uses[1].write_bytes, 1024 + 65536);
}

TEST(Devices, ErrorsListTheAlternatives) {
  const auto message = [](const DeviceSpec& spec) -> std::string {
    Load load;
    try {
      load.make(spec);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(
      message({"sdd", {}}),
      "there is no device 'sdd'; use one of distance, disk, ssd, volume, servers and server; the nearest is 'ssd'");
  EXPECT_NE(message({"ssd", {{"chanels", 4}}}).find("the nearest is 'channels'"), std::string::npos);
  EXPECT_NE(message({"ssd", {{"channels", 0.5}}}).find("a whole number of 1 or above"), std::string::npos);
  EXPECT_NE(message({"ssd", {{"read_rate", 0}}}).find("at least one byte a second"), std::string::npos);
  EXPECT_NE(message({"servers", {{"load", 1}}}).find("below 1"), std::string::npos);
  for (const std::int64_t stripe : {std::int64_t{0}, std::int64_t{1} << 41})
    EXPECT_NE(message({"ssd", {}, 4, stripe}).find("a stripe of 1 byte to 1 TiB"), std::string::npos);
}

}  // namespace
}  // namespace plait::simulation
