// Predicted times of accesses, and the choices that follow from them: the strategy and the number of writers.
#include "plan/access/prediction.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "plan/access/explain_access.hpp"
#include "plan/access/file_requests.hpp"
#include "plan/access/planner.hpp"

namespace {

using plait::Layout;
using plait::Order;
using plait::plan::AccessOptions;
using plait::plan::AccessPlan;
using plait::plan::AccessTask;
using plait::plan::CostModel;
using plait::plan::Section;
using plait::plan::Strategy;

AccessPlan make_plan(const std::string& layout, const AccessTask& task, const AccessOptions& options = {}) {
  const Layout parsed_layout = Layout::parse(layout);
  return plan_access(Section(parsed_layout.shape(), Order::kC, {}), parsed_layout, task, options);
}

/// Returns a task of workers on one node.
AccessTask task(std::int64_t workers, bool write, std::int64_t element_bytes = 8) {
  return {element_bytes, /*data_offset=*/0, workers, /*nodes_apart=*/false, write};
}

TEST(Prediction, FewRanksWriteASmallFile) {
  const AccessPlan small = make_plan("250x250 (*, block) onto (4)", task(4, true));
  EXPECT_EQ(small.max_readers(), 4);
  EXPECT_EQ(small.readers(), 1);
  EXPECT_GT(make_plan("2500x2500 (*, block) onto (4)", task(4, true)).readers(), 1);
  // Readers, unlike writers, do not wait for each other.
  EXPECT_EQ(make_plan("250x250 (*, block) onto (4)", task(4, false)).readers(), 4);
}

TEST(Prediction, AllRanksWriteIfTheyDoNotWaitForEachOther) {
  AccessTask apart = task(4, true);
  apart.nodes_apart = true;
  EXPECT_EQ(make_plan("250x250 (*, block) onto (4)", apart).readers(), 4);
  AccessTask threads = task(4, true);
  threads.threads = true;
  EXPECT_EQ(make_plan("250x250 (*, block) onto (4)", threads).readers(), 4);
  AccessOptions stripes;
  stripes.storage_unit = 16 << 10;
  EXPECT_EQ(make_plan("256x256 (*, block) onto (4)", task(4, true), stripes).readers(), 4);
}

/// Returns a task on `nodes` nodes with `ranks_per_node` ranks each.
AccessTask task_on_nodes(std::int64_t nodes, std::int64_t ranks_per_node, bool write) {
  AccessTask result = task(nodes * ranks_per_node, write);
  result.nodes_apart = true;
  auto members = std::make_shared<plait::plan::Nodes>();
  for (std::int64_t node = 0; node < nodes; ++node)
    members->push_back(plait::IndexSet::range(node * ranks_per_node, (node + 1) * ranks_per_node));
  result.nodes = members;
  return result;
}

// Separately: each node reads everything that its ranks need, so that the nodes exchange no messages.
TEST(Prediction, FewNodesReadTheirElementsSeparately) {
  const char* const cyclic = "3000x3000 (cyclic, *) onto (4)";
  const AccessPlan two_nodes = make_plan("3000x3000 (*, cyclic) onto (4)", task_on_nodes(2, 2, false));
  EXPECT_TRUE(two_nodes.each_node());
  EXPECT_EQ(two_nodes.readers(), 2);
  EXPECT_NE(explain(two_nodes, "a").find("2 of 4 in each of 2 nodes"), std::string::npos) << explain(two_nodes, "a");
  EXPECT_LE(two_nodes.staging_bytes(), plait::plan::kSlots * plait::plan::kWindowBytes);
  EXPECT_FALSE(make_plan("3000x3000 (*, cyclic) onto (256)", task_on_nodes(16, 16, false)).each_node());
  // Writers of separate nodes would write elements of other ranks.
  EXPECT_FALSE(make_plan("3000x3000 (*, cyclic) onto (4)", task_on_nodes(2, 2, true)).each_node());
  AccessOptions two_readers;
  two_readers.readers = 2;
  EXPECT_FALSE(make_plan("3000x3000 (*, cyclic) onto (4)", task_on_nodes(2, 2, false), two_readers).each_node());
  EXPECT_EQ(make_plan(cyclic, task_on_nodes(2, 2, false)).strategy(), Strategy::kDirect);
}

TEST(Prediction, NodesShareTheReadsOfUncachedFiles) {
  AccessOptions cold;
  cold.cold = true;
  const AccessPlan plan = make_plan("3000x3000 (*, cyclic) onto (4)", task_on_nodes(2, 2, false), cold);
  EXPECT_FALSE(plan.each_node());
  EXPECT_TRUE(can_read_in_each_node(plan));
  EXPECT_EQ(plan.strategy(), Strategy::kTwoPhase);
  EXPECT_NE(explain(plan, "a").find("two-phase, as the file was not cached"), std::string::npos) << explain(plan, "a");
}

TEST(Prediction, TransfersBetweenNodesUseTheNetwork) {
  AccessOptions options;
  options.strategy = Strategy::kTwoPhase;
  const auto seconds = [&](const char* layout, bool apart, bool write) {
    const AccessTask access_task = apart ? task_on_nodes(2, 2, write) : task(4, write);
    return predicted_seconds(make_plan(layout, access_task, options), Strategy::kTwoPhase);
  };
  for (const bool write : {false, true}) {
    // Each rank owns exactly its share of the file, so that nothing crosses nodes.
    const char* const conforming = "2048x2048 (block, *) onto (4)";
    EXPECT_LE(seconds(conforming, true, write), 1.01 * seconds(conforming, false, write));
    // Half of the 32 MiB belong to the other node: 8 MiB in each direction.
    const char* const mixed = "2048x2048 (*, cyclic) onto (4)";
    const double network_seconds = seconds(mixed, true, false) - seconds(mixed, false, false);
    EXPECT_NEAR(network_seconds, (8 << 20) / plait::plan::CostModel{}.network_bytes_per_second, 1e-4);
  }
}

TEST(Prediction, TheRequestedNumberOfWritersIsNotChanged) {
  for (const std::int64_t writers : {1, 2, 3, 4}) {
    AccessOptions options;
    options.readers = writers;
    EXPECT_EQ(make_plan("256x256 (*, block) onto (4)", task(4, true), options).readers(), writers);
  }
}

TEST(Prediction, ForAnotherNumberOfReadersMatchesThePlanWithThatNumber) {
  for (const bool write : {false, true}) {
    for (const std::int64_t readers : {1, 2, 4}) {
      AccessOptions options;
      options.strategy = Strategy::kTwoPhase;
      options.readers = readers;
      const AccessPlan requested = make_plan("2048x2048 (cyclic, block) onto (2, 2)", task(4, write), options);
      const AccessPlan other = make_plan("2048x2048 (cyclic, block) onto (2, 2)", task(4, write));
      const double seconds = predicted_seconds(requested, Strategy::kTwoPhase);
      EXPECT_NEAR(predicted_seconds_by(other, readers), seconds, 0.05 * seconds) << readers << write;
    }
  }
}

/// Returns the number of reads that a reader makes for its share if it also reads the gaps between its runs.
std::int64_t count_covers(const AccessPlan& plan, std::int64_t reader) {
  std::int64_t covers = 0;
  for (std::int64_t number = 0; number < plan.windows(); ++number)
    plait::plan::for_each_cover(plan, plan.window(reader, number), [&](auto) { ++covers; });
  return covers;
}

TEST(Prediction, ShortRunsAreReadWithTheirGaps) {
  struct Case {
    plait::Extents shape;
    plait::Region region;
    std::int64_t element_bytes;
  };
  const Case cases[] = {
      {{65, 81, 101}, {{16, 32, 1}, {20, 40, 1}, {25, 51, 1}}, 2},   // all rows of a plane in one read
      {{65, 81, 1010}, {{16, 32, 1}, {20, 40, 1}, {25, 51, 1}}, 2},  // adjacent rows in one read, but not planes
      {{400'000}, {{0, 200'000, 2}}, 8},                             // as many runs as a batch contains
      {{800'000}, {{0, 400'000, 2}}, 1},
      {{300, 300}, {{0, 300, 1}, {0, 30, 10}}, 4},
      {{512, 30'000}, {{0, 512, 1}, {0, 2, 10'000}}, 4},  // runs that are too far from each other
  };
  for (const Case& item : cases) {
    const Section section(item.shape, Order::kC, item.region);
    std::string layout;
    for (const std::int64_t extent : section.layout_shape)
      layout += (layout.empty() ? "" : "x") + std::to_string(extent);
    layout += section.layout_shape.size() == 1 ? " (*)" : section.layout_shape.size() == 2 ? " (*, *)" : " (*, *, *)";
    const Layout parsed_layout = Layout::parse(layout);
    const AccessPlan plan = plan_access(section, parsed_layout, task(1, false, item.element_bytes), {});
    const std::int64_t covers = count_covers(plan, 0);
    const std::int64_t predicted = requests(plan, Strategy::kTwoPhase);
    EXPECT_GE(predicted, covers - plan.windows()) << layout;
    EXPECT_LE(predicted, covers + plan.windows()) << layout;
  }
}

TEST(Prediction, OneRequestForEachRankIsDirect) {
  for (const char* layout :
       {"20x20 (block, *) onto (4)", "700x700 (block, *) onto (4)", "2500x2500 (block, *) onto (4)"})
    for (const bool write : {false, true})
      EXPECT_EQ(make_plan(layout, task(4, write)).strategy(), Strategy::kDirect) << layout << write;
}

TEST(Prediction, ManyRequestsAreTwoPhase) {
  for (const char* layout :
       {"100x100 (*, cyclic) onto (4)", "100x100 (cyclic, *) onto (2)", "2500x2500 (*, block) onto (2)"})
    for (const bool write : {false, true})
      EXPECT_EQ(make_plan(layout, task(4, write)).strategy(), Strategy::kTwoPhase) << layout << write;
}

TEST(Prediction, ThreadsShareTheCopiesOfOneRank) {
  AccessTask threads = task(4, false);
  threads.threads = true;
  const AccessPlan plan = make_plan("2500x2500 (block, *) onto (1)", threads);
  EXPECT_EQ(plan.strategy(), Strategy::kTwoPhase);
  const double alone =
      predicted_seconds(make_plan("2500x2500 (block, *) onto (1)", task(1, false)), Strategy::kTwoPhase);
  EXPECT_LT(predicted_seconds(plan, Strategy::kTwoPhase), 0.5 * alone);
}

// In the array, elements that are neighbours in the first dimension are contiguous; in the file they are 406 * 508
// elements apart. A window must span many such planes to fill whole cache lines of the array.
TEST(Prediction, WindowsFillCacheLinesOfATransposedArray) {
  constexpr std::int64_t kPlane = 406 * 508;
  AccessTask reading = task(2, false, 2);
  reading.threads = true;
  AccessOptions options;
  options.memory_bytes = 64 << 20;
  options.strategy = Strategy::kTwoPhase;
  const AccessPlan transposed = make_plan("325x406x508 (*, *, *) order=F", reading, options);
  EXPECT_GE(transposed.window_elements(), 31 * kPlane);
  EXPECT_LE(transposed.staging_bytes(), options.memory_bytes);
  EXPECT_EQ(make_plan("325x406x508 (*, *, *)", reading, options).window_elements(), (1 << 20) / 2);
  // With these strides the middle dimension is contiguous in the array, and a plane contains all its neighbours.
  reading.strides = {406 * 2, 2, 325 * 406 * 2};
  EXPECT_EQ(make_plan("325x406x508 (*, *, *)", reading, options).window_elements(), (1 << 20) / 2);
  reading.strides = {};

  options.memory_bytes = 1 << 20;
  const AccessPlan small_windows = make_plan("325x406x508 (*, *, *) order=F", reading, options);
  EXPECT_LE(small_windows.staging_bytes(), options.memory_bytes);
  EXPECT_GT(predicted_seconds(small_windows, Strategy::kTwoPhase),
            3 * predicted_seconds(transposed, Strategy::kTwoPhase));
}

TEST(Prediction, FollowsTheConstantsOfTheCostModel) {
  auto slow_requests = std::make_shared<CostModel>();
  slow_requests->request_seconds = 1e-3;
  AccessOptions options;
  options.costs = slow_requests;
  EXPECT_EQ(make_plan("100x100 (*, block) onto (2)", task(2, false), options).strategy(), Strategy::kTwoPhase);
  auto slow_waits = std::make_shared<CostModel>();
  slow_waits->wait_seconds = 1;
  options.costs = slow_waits;
  EXPECT_EQ(make_plan("100x100 (*, block) onto (2)", task(2, false), options).strategy(), Strategy::kDirect);
}

}  // namespace
