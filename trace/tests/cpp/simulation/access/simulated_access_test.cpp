// Simulated accesses of files compared with real ones, executed by threads: each request and each message must be
// equal.
#include "simulation/access/simulated_access.hpp"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <numeric>

#include "access/access.hpp"
#include "access_case.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "plan/access/planner.hpp"
#include "store/memory/memory_store.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace plait::simulation {
namespace {

using access_case::Bytes;
using access_case::Case;
using access_case::pick;
using access_case::Random;
using oracle::to_size_t;

/// (sender, receiver) → number of messages, and their bytes. Both are ranks or both are nodes.
using Messages = std::map<std::pair<int, int>, std::pair<std::int64_t, std::int64_t>>;

/// Requests and messages of real accesses.
struct ObservedAccesses {
  std::mutex mutex;
  std::int64_t requests = 0;
  std::int64_t bytes = 0;
  Messages messages;
};

/// A store that counts one request for each contiguous part of the file.
class CountingStore : public store::Store {
 public:
  CountingStore(store::Store& inner, ObservedAccesses& observed) : inner_(inner), observed_(observed) {}
  const std::string& name() const override { return inner_.name(); }
  std::int64_t size() override { return inner_.size(); }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override {
    count(segments);
    return inner_.submit_read(std::move(segments));
  }
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override {
    count(segments);
    return inner_.submit_write(std::move(segments));
  }
  void sync() override { inner_.sync(); }

 private:
  template <typename Segment>
  void count(const std::vector<Segment>& segments) {
    const std::lock_guard lock(observed_.mutex);
    std::int64_t end = -1;
    for (const Segment& segment : segments) {
      if (segment.offset != end) ++observed_.requests;
      end = segment.offset + segment.bytes;
      observed_.bytes += segment.bytes;
    }
  }

  store::Store& inner_;
  ObservedAccesses& observed_;
};

class CountingTransport : public wrapped::WrappedTransport {
 public:
  CountingTransport(transport::Transport& inner, ObservedAccesses& observed)
      : WrappedTransport(inner), observed_(observed) {}
  std::unique_ptr<transport::Ticket> send(int to, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(observed_.mutex);
    auto& [messages, sum] = observed_.messages[{rank(), to}];
    ++messages;
    sum += static_cast<std::int64_t>(bytes.size());
    return inner_.send(to, bytes);
  }

 private:
  ObservedAccesses& observed_;
};

/// Executes a read or a write by `workers` threads, of which at most `workers_per_node` share a simulated node.
void run_access(const Case& access, const plan::AccessOptions& options, int workers, int workers_per_node, bool write,
                ObservedAccesses& observed) {
  store::memory::MemoryStore memory(access_case::store_bytes(access));
  memory.bytes() = access_case::pattern(memory.size());
  std::vector<Bytes> locals = access_case::make_locals(access, memory.bytes());
  const auto arrays = access_case::arrays_over(access.layout, locals, access.element_bytes);
  CountingStore store(memory, observed);
  transport::thread::run_team(workers, [&](transport::Transport& team) {
    wrapped::SeveralNodes nodes(team, workers_per_node);
    CountingTransport counting(nodes, observed);
    const plan::AccessPlan plan = plan::plan_access(
        plan::Section(access.file_shape, access.file_order, access.region), access.layout,
        {access.element_bytes, access.offset, workers, counting.nodes_apart(), write, counting.nodes()}, options);
    collective::Times times;
    const auto local_array = std::span(arrays).subspan(static_cast<std::size_t>(team.rank()), 1);
    const access::Access parts{plan, store, access.offset, counting, local_array, false, times};
    collective::prepare(counting);
    const auto execution = write ? access::make_write(parts) : access::make_read(parts);
    collective::agree(counting, "the same", nullptr);
    collective::agree(counting, collective::caught([&] { execution->run(); }));
  });
}

AccessSettings make_machine(int workers_per_node) {
  AccessSettings settings;
  settings.nodes.ranks = workers_per_node;
  settings.nodes.cores = 2;
  settings.files.device.kind = "server";
  settings.files.device.values = {{"service", 1e-4}, {"rate", 1e8}};
  settings.files.dirty_limit = 1 << 16;
  return settings;
}

AccessRequest make_request(const Case& access, const plan::AccessOptions& options, int workers, bool write) {
  return {plan::Section(access.file_shape, access.file_order, access.region),
          access.layout,
          access.element_bytes,
          access.offset,
          workers,
          write,
          options};
}

template <typename Value>
std::int64_t sum(const AccessOutcome& outcome, Value RankOutcome::* value) {
  std::int64_t total = 0;
  for (const RankOutcome& rank : outcome.ranks) total += rank.*value;
  return total;
}

void expect_same(const AccessOutcome& outcome, const ObservedAccesses& observed, int workers_per_node) {
  ASSERT_EQ(sum(outcome, &RankOutcome::requests), observed.requests);
  ASSERT_EQ(sum(outcome, &RankOutcome::bytes), observed.bytes);
  std::vector<RankOutcome> ranks(outcome.ranks.size());
  Messages between_nodes;
  for (const auto& [ends, sent] : observed.messages) {
    ranks[to_size_t(ends.first)].sent += sent.first;
    ranks[to_size_t(ends.first)].sent_bytes += sent.second;
    ranks[to_size_t(ends.second)].received += sent.first;
    ranks[to_size_t(ends.second)].received_bytes += sent.second;
    auto& [messages, bytes] = between_nodes[{ends.first / workers_per_node, ends.second / workers_per_node}];
    messages += sent.first;
    bytes += sent.second;
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ASSERT_EQ(outcome.ranks[rank].sent, ranks[rank].sent) << rank;
    ASSERT_EQ(outcome.ranks[rank].sent_bytes, ranks[rank].sent_bytes) << rank;
    ASSERT_EQ(outcome.ranks[rank].received, ranks[rank].received) << rank;
    ASSERT_EQ(outcome.ranks[rank].received_bytes, ranks[rank].received_bytes) << rank;
  }
  Messages links;
  for (const LinkUse& link : outcome.links)
    if (link.from < outcome.nodes && link.to < outcome.nodes)
      links[{static_cast<int>(link.from), static_cast<int>(link.to)}] = {link.messages, link.bytes};
  ASSERT_EQ(links, between_nodes);
}

void expect_consistent_times(const AccessOutcome& outcome) {
  // The phases of each rank add up to the elapsed time.
  for (const RankOutcome& rank : outcome.ranks)
    ASSERT_EQ(std::accumulate(rank.times.begin(), rank.times.end(), Time{0}), outcome.elapsed);
  ASSERT_GE(outcome.drained, outcome.elapsed);
}

TEST(SimulatedAccess, MakesTheRequestsAndMessagesOfRealAccesses) {
  Random random(1);
  for (int i = 0; i < (oracle::kSanitized ? 40 : 300); ++i) {
    const int workers = pick(random, std::vector{2, 3, 4, 6});
    const int workers_per_node = static_cast<int>(pick(random, 1, workers));
    const Case access = access_case::random_case(random, workers, {1, 3, 8, 1000, 4096, 4096});
    plan::AccessOptions options;
    options.strategy = pick(random, std::vector{plan::Strategy::kAutomatic, plan::Strategy::kDirect,
                                                plan::Strategy::kTwoPhase, plan::Strategy::kTwoPhase});
    options.readers = pick(random, 0, workers);
    options.memory_bytes = pick(random, std::vector<std::int64_t>{0, 9, 24, 64}) * access.element_bytes;
    const bool write = i % 2 == 1;
    SCOPED_TRACE(access_case::describe(access) + (write ? ", write" : ", read") + ", " + std::to_string(workers) +
                 " ranks, " + std::to_string(workers_per_node) + " on a node, readers " +
                 std::to_string(options.readers) + ", memory " + std::to_string(options.memory_bytes));
    ObservedAccesses observed;
    ASSERT_NO_FATAL_FAILURE(run_access(access, options, workers, workers_per_node, write, observed));
    AccessSettings settings = make_machine(workers_per_node);
    settings.files.cached = i % 3 == 0;
    settings.files.write_through = i % 5 == 0;
    const AccessRequest request = make_request(access, options, workers, write);
    const AccessOutcome outcome = simulate_access(request, settings);
    ASSERT_NO_FATAL_FAILURE(expect_same(outcome, observed, workers_per_node));
    ASSERT_NO_FATAL_FAILURE(expect_consistent_times(outcome));
    const AccessOutcome again = simulate_access(request, settings);
    ASSERT_EQ(again.elapsed, outcome.elapsed);
    // Exchanges that are simulated as wholes have the same messages.
    settings.max_messages = 0;
    const AccessOutcome as_wholes = simulate_access(request, settings);
    ASSERT_NO_FATAL_FAILURE(expect_same(as_wholes, observed, workers_per_node));
    ASSERT_NO_FATAL_FAILURE(expect_consistent_times(as_wholes));
  }
}

/// Returns a machine on which nothing takes time, except costs that a test sets.
AccessSettings make_free_machine() {
  AccessSettings settings;
  settings.nodes.plan = settings.nodes.message = 0;
  settings.nodes.cores = 1000;
  settings.network = {.latency = 0, .link_rate = 1e15, .total_rate = 1e15, .eager = 0};
  settings.costs = {.request_seconds = 0,
                    .write_request_seconds = 0,
                    .store_bytes_per_second = 1e15,
                    .window_bytes_per_second = 1e15,
                    .copy_bytes_per_second = 1e15,
                    .run_seconds = 0,
                    .wait_seconds = 0};
  settings.files.device.kind = "server";
  settings.files.device.values = {{"service", 0}, {"rate", 1e15}};
  settings.files.write_through = true;
  return settings;
}

/// Returns an access to a file of 1024 x 1024 doubles (8 MiB) by ranks that each hold some rows. With 8 ranks, each
/// reads or writes a window of 1 MiB and exchanges nothing.
AccessRequest rows(std::int64_t ranks, bool write = false, plan::Strategy strategy = plan::Strategy::kTwoPhase) {
  const Extents shape{1024, 1024};
  return {plan::Section(shape, Order::kC, {}),
          Layout::parse("1024x1024 (block, *) onto (" + std::to_string(ranks) + ")"),
          8,
          0,
          ranks,
          write,
          {strategy}};
}

/// Returns an access to the same file by ranks that each hold some columns, so that all ranks exchange messages.
AccessRequest columns(std::int64_t ranks, bool write = false) {
  AccessRequest request = rows(ranks, write);
  request.layout = Layout::parse("1024x1024 (*, block) onto (" + std::to_string(ranks) + ")");
  return request;
}

constexpr double kMs = 1e6;

TEST(SimulatedAccess, TakesNoTimeWithoutCosts) {
  EXPECT_LT(simulate_access(columns(8), make_free_machine()).elapsed, kMs / 10);
}

TEST(SimulatedAccess, WaitsForTheDevice) {
  AccessSettings settings = make_free_machine();
  settings.files.device.values = {{"service", 1e-3}, {"rate", 1e15}};
  // A single server processes eight windows of 1 MiB, one after the other.
  for (const bool write : {false, true}) {
    const AccessOutcome outcome = simulate_access(columns(8, write), settings);
    EXPECT_NEAR(static_cast<double>(outcome.elapsed), 8 * kMs, kMs / 10);
    ASSERT_EQ(outcome.devices.size(), 1U);
    EXPECT_EQ(outcome.devices[0].reads + outcome.devices[0].writes, 8);
    EXPECT_NEAR(static_cast<double>(outcome.devices[0].busy), 8 * kMs, kMs / 10);
  }
  settings.files.cached = true;
  EXPECT_LT(simulate_access(columns(8), settings).elapsed, kMs / 10);
}

TEST(SimulatedAccess, WritesAreDelayedUpToALimitOfDirtyBytes) {
  AccessSettings settings = make_free_machine();
  settings.files.device.values = {{"service", 1e-3}, {"rate", 1e15}};
  settings.files.write_through = false;
  settings.files.dirty_limit = 1 << 30;
  AccessOutcome outcome = simulate_access(columns(8, true), settings);
  EXPECT_LT(outcome.elapsed, kMs / 10);
  EXPECT_NEAR(static_cast<double>(outcome.drained), 8 * kMs, kMs / 10);
  settings.files.dirty_limit = 2 << 20;  // two windows: the last write waits until six are on the device
  outcome = simulate_access(columns(8, true), settings);
  EXPECT_NEAR(static_cast<double>(outcome.elapsed), 6 * kMs, kMs / 10);
  settings.files.dirty_limit = 1 << 30;
  settings.files.dirty_start = 1 << 30;  // no data is written to the device before the end
  outcome = simulate_access(columns(8, true), settings);
  EXPECT_LT(outcome.elapsed, kMs / 10);
  EXPECT_NEAR(static_cast<double>(outcome.drained), 8 * kMs, kMs / 10);
}

TEST(SimulatedAccess, WritersOfANodeTakeTurns) {
  AccessSettings settings = make_free_machine();
  settings.costs.write_request_seconds = 1e-3;
  settings.nodes.ranks = 4;
  settings.files.writers_take_turns = true;
  // Every rank writes its window; four of them share a node.
  EXPECT_NEAR(static_cast<double>(simulate_access(rows(8, true), settings).elapsed), 4 * kMs, kMs / 10);
  settings.files.writers_take_turns = false;
  EXPECT_NEAR(static_cast<double>(simulate_access(rows(8, true), settings).elapsed), kMs, kMs / 10);
}

TEST(SimulatedAccess, SharesLinksAndCores) {
  AccessSettings settings = make_free_machine();
  settings.files.cached = true;
  settings.nodes.ranks = 4;
  settings.network.link_rate = 2e9;
  // Half of the four MiB of each node's windows belongs to the other node.
  const double half = (2 << 20) / 2e9 * 1e9;
  EXPECT_NEAR(static_cast<double>(simulate_access(columns(8), settings).elapsed), half, half / 10);
  settings.network.link_rate = 1e15;
  settings.costs.window_bytes_per_second = 1e9;
  settings.nodes.cores = 2;
  const double two_windows = 2 * (1 << 20) / 1e9 * 1e9;
  EXPECT_NEAR(static_cast<double>(simulate_access(rows(8), settings).elapsed), two_windows, two_windows / 10);
}

TEST(SimulatedAccess, SimulatesOnlyTheFirstWindows) {
  AccessSettings settings = make_free_machine();
  AccessRequest request = columns(2);
  request.options.memory_bytes = 1 << 16;
  const AccessOutcome all = simulate_access(request, settings);
  settings.windows = 3;
  const AccessOutcome first_windows = simulate_access(request, settings);
  EXPECT_EQ(all.simulated, all.windows);
  EXPECT_EQ(first_windows.simulated, 3);
  EXPECT_EQ(first_windows.windows, all.windows);
  EXPECT_EQ(sum(first_windows, &RankOutcome::bytes), 2 * 3 * (1 << 15));
}

TEST(SimulatedAccess, RejectsInvalidRequests) {
  const auto expect_error = [](const AccessRequest& request, const AccessSettings& settings, const std::string& part) {
    try {
      simulate_access(request, settings);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  AccessRequest few = rows(8);
  few.ranks = 4;
  expect_error(few, make_free_machine(), "has the rank 7, but there are 4 ranks");
  AccessRequest many = rows(8);
  many.ranks = 5000;
  expect_error(many, make_free_machine(), "ranks of one node = 5000, expected at most 4096");
  AccessSettings none = make_free_machine();
  none.nodes.cores = 0;
  expect_error(rows(8), none, "cores of a node = 0");
  AccessRequest direct = rows(8, false, plan::Strategy::kDirect);
  direct.section = plan::Section({100'000'000}, Order::kC, {});
  direct.layout = Layout::parse("100000000 (cyclic) onto (8)");
  expect_error(direct, make_free_machine(), "expected at most 50000000");
}

TEST(SimulatedAccess, ProgressMayThrow) {
  struct Stop {};
  AccessSettings settings = make_free_machine();
  settings.nodes.ranks = 8;
  AccessRequest request = columns(512);
  request.options.memory_bytes = 1 << 16;
  EXPECT_THROW(simulate_access(request, settings, [](double) { throw Stop(); }), Stop);
}

}  // namespace
}  // namespace plait::simulation
