// The choice of the ranks that read. No ranks run: nodes are lists of rank numbers.
#include "plan/access/readers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "plan/access/explain_access.hpp"
#include "plan/access/planner.hpp"

namespace {

using plait::Distribution;
using plait::IndexSet;
using plait::Layout;
using plait::Run;
using plait::plan::AccessPlan;
using plait::plan::Nodes;
using plait::plan::Readers;

/// Returns the ranks of each node; `node_of_rank` states the number of each rank's node.
std::shared_ptr<const Nodes> make_nodes(const std::vector<int>& node_of_rank) {
  std::map<int, std::vector<Run>> runs;
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank)
    runs[node_of_rank[rank]].push_back({static_cast<std::int64_t>(rank), 1});
  auto nodes = std::make_shared<Nodes>();
  for (auto& [number, rank_runs] : runs) {
    std::vector<Run> joined;
    for (const Run& run : rank_runs)
      if (!joined.empty() && joined.back().begin + joined.back().length == run.begin) {
        ++joined.back().length;
      } else {
        joined.push_back(run);
      }
    nodes->push_back(IndexSet::of_runs(joined));
  }
  std::sort(nodes->begin(), nodes->end(), [](const IndexSet& a, const IndexSet& b) { return a.begin < b.begin; });
  return nodes;
}

/// Checks that readers are different ranks, that ranks know their readers, and that they are spread evenly over nodes.
void check(const std::vector<int>& node_of_rank, std::int64_t count) {
  const auto workers = static_cast<std::int64_t>(node_of_rank.size());
  const Readers readers(count, workers, make_nodes(node_of_rank));
  ASSERT_EQ(readers.count(), count);
  std::set<std::int64_t> ranks;
  std::map<int, std::int64_t> reader_counts;
  for (const int node : node_of_rank) reader_counts[node] = 0;
  for (std::int64_t reader = 0; reader < count; ++reader) {
    const std::int64_t rank = readers.rank_at(reader);
    ASSERT_TRUE(rank >= 0 && rank < workers && ranks.insert(rank).second) << rank;
    ASSERT_EQ(readers.reader_at(rank), reader);
    ++reader_counts[node_of_rank[static_cast<std::size_t>(rank)]];
  }
  for (std::int64_t rank = 0; rank < workers; ++rank)
    if (!ranks.contains(rank)) {
      ASSERT_EQ(readers.reader_at(rank), count);
    }
  std::int64_t max_on_node = 0;
  std::int64_t nodes = 0;
  for (const auto& [node, reader_count] : reader_counts) {
    max_on_node = std::max(max_on_node, reader_count);
    nodes += reader_count > 0 ? 1 : 0;
  }
  for (const auto& [node, reader_count] : reader_counts)
    if (reader_count < std::count(node_of_rank.begin(), node_of_rank.end(), node)) {
      ASSERT_GE(reader_count, max_on_node - 1);
    }
  ASSERT_EQ(readers.nodes(), nodes);
}

TEST(Readers, AreSpreadEvenlyOverNodesOfAnySizes) {
  std::mt19937_64 random(1);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int i = 0; i < 600; ++i) {
    const int workers = pick(1, 30);
    const int nodes = pick(1, 6);
    std::vector<int> node_of_rank;
    for (int rank = 0; rank < workers; ++rank)
      // Ranks in blocks, round robin, or at random with a larger last node.
      node_of_rank.push_back(i % 3 == 0   ? rank * nodes / workers
                             : i % 3 == 1 ? rank % nodes
                                          : std::min(pick(0, nodes), nodes - 1));
    for (int count = 1; count <= workers; ++count) {
      SCOPED_TRACE(testing::Message() << "case " << i << ", " << count << " of " << workers << " on " << nodes);
      ASSERT_NO_FATAL_FAILURE(check(node_of_rank, count));
    }
  }
}

TEST(Readers, AreTheFirstRanksOfOneNodeOrAllRanks) {
  const Readers first(3, 8);
  const Readers all(6, 6, make_nodes({0, 1, 0, 1, 0, 1}));
  for (std::int64_t rank = 0; rank < 8; ++rank) EXPECT_EQ(first.reader_at(rank), std::min<std::int64_t>(rank, 3));
  for (std::int64_t rank = 0; rank < 6; ++rank) EXPECT_EQ(all.reader_at(rank), rank);
  EXPECT_EQ(first.nodes(), 1);
  EXPECT_EQ(all.nodes(), 2);
}

TEST(Readers, AreNumberedNodeByNode) {
  const Readers blocks(4, 8, make_nodes({0, 0, 0, 0, 1, 1, 1, 1}));
  const Readers alternating(4, 8, make_nodes({0, 1, 0, 1, 0, 1, 0, 1}));
  const Readers uneven(3, 8, make_nodes({0, 0, 0, 0, 0, 0, 0, 1}));
  std::vector<std::vector<std::int64_t>> reader_ranks(3);
  for (std::int64_t reader = 0; reader < 4; ++reader) {
    reader_ranks[0].push_back(blocks.rank_at(reader));
    reader_ranks[1].push_back(alternating.rank_at(reader));
    if (reader < 3) reader_ranks[2].push_back(uneven.rank_at(reader));
  }
  EXPECT_EQ(reader_ranks[0], (std::vector<std::int64_t>{0, 2, 4, 6}));
  EXPECT_EQ(reader_ranks[1], (std::vector<std::int64_t>{0, 4, 1, 5}));
  EXPECT_EQ(reader_ranks[2], (std::vector<std::int64_t>{0, 3, 7}));
}

TEST(Readers, OfAMillionRanksAreComputed) {
  auto nodes = std::make_shared<Nodes>();
  constexpr std::int64_t kRanksPerNode = 100;
  constexpr std::int64_t kNodes = 10'000;
  for (std::int64_t node = 0; node < kNodes; ++node)
    nodes->push_back(IndexSet::range(node * kRanksPerNode, (node + 1) * kRanksPerNode));
  const Readers readers(2 * kNodes, kNodes * kRanksPerNode, nodes);
  for (std::int64_t reader = 0; reader < readers.count(); reader += 777) {
    EXPECT_EQ(readers.rank_at(reader), reader * 50);
    EXPECT_EQ(readers.reader_at(reader * 50), reader);
    EXPECT_EQ(readers.reader_at(reader * 50 + 1), readers.count());
  }
  EXPECT_EQ(readers.nodes(), kNodes);
}

TEST(Readers, OfAPlanAreExplained) {
  const Layout layout({1000, 1000}, {Distribution::cyclic(), Distribution::collapsed()}, {8});
  const AccessPlan plan =
      plan_access(plait::plan::Section({1000, 1000}, plait::Order::kC, {}), layout,
                  {8, 0, 8, /*nodes_apart=*/true, /*write=*/false, make_nodes({0, 0, 0, 0, 1, 1, 1, 1})},
                  {plait::plan::Strategy::kTwoPhase, 0, 2});
  EXPECT_EQ(plan.reader_ranks().rank_at(1), 4);
  EXPECT_EQ(plan.reader_ranks().reader_at(4), 1);
  EXPECT_EQ(plan.reader_ranks().reader_at(1), plan.readers());
  EXPECT_NE(explain(plan, "a").find("readers    2 of 8 on 2 nodes, "), std::string::npos) << explain(plan, "a");
}

}  // namespace
