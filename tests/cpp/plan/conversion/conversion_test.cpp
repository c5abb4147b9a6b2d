// Messages, runs and block sizes of conversions between many pairs of layouts, compared with a count of all elements.
#include "plait/conversion.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <tuple>
#include <utility>

#include "oracle.hpp"
#include "plan/conversion/products.hpp"

namespace {

using oracle::to_size_t;
using plait::Distribution;
using plait::Extents;
using plait::Layout;
using plait::Message;
using plait::Order;

/// A layout, and the position of each of its elements.
struct MappedLayout {
  Layout layout;
  oracle::ArrayMap map;
  explicit MappedLayout(Layout mapped) : layout(std::move(mapped)), map(oracle::make_map(layout)) {}
};

/// Checks sends(), receives() and block() of one pair.
void check(const MappedLayout& source, const MappedLayout& target) {
  const oracle::Conversion expected = oracle::expected_conversion(source.map, target.map);
  const plait::Conversion conversion = plait::compose(source.layout, target.layout);
  const auto trace = [&] { return oracle::describe(source.layout) + "  to  " + oracle::describe(target.layout); };
  std::vector<oracle::Traffic> sent;
  for (std::int64_t rank = 0; rank < source.layout.size(); ++rank) {
    std::int64_t elements = 0;
    for (const Message& message : conversion.sends(rank)) {
      sent.push_back({rank, message.rank, message.elements, message.runs});
      elements += message.elements;
    }
    ASSERT_EQ(elements, source.layout.local_elements(rank)) << trace();
  }
  ASSERT_EQ(sent.size(), expected.traffic.size()) << trace();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto message = [](const oracle::Traffic& traffic) {
      return testing::Message() << "from " << traffic.from << " to " << traffic.to << " " << traffic.elements
                                << " elements in " << traffic.runs << " runs";
    };
    ASSERT_TRUE(sent[i] == expected.traffic[i])
        << trace() << ": " << message(sent[i]) << ", expected " << message(expected.traffic[i]);
  }
  std::vector<oracle::Traffic> received;
  for (std::int64_t rank = 0; rank < target.layout.size(); ++rank)
    for (const Message& message : conversion.receives(rank))
      received.push_back({message.rank, rank, message.elements, message.runs});
  std::vector<oracle::Traffic> by_receiver = expected.traffic;
  std::stable_sort(by_receiver.begin(), by_receiver.end(), [](const auto& a, const auto& b) { return a.to < b.to; });
  ASSERT_TRUE(received == by_receiver) << trace() << ": receives differ from sends";
  ASSERT_EQ(conversion.block(), expected.shortest_run) << trace();
}

TEST(Conversion, EveryPairOfOneDimensionalLayouts) {
  for (std::int64_t size = 0; size <= 12; ++size) {
    std::vector<MappedLayout> layouts{MappedLayout(Layout({size}, {Distribution::collapsed()}, {}))};
    for (std::int64_t extent = 1; extent <= 6; ++extent)
      for (const Distribution& distribution : oracle::distributions_for(size, extent, 5))
        layouts.emplace_back(Layout({size}, {distribution}, {extent}));
    std::int64_t count = size;
    for (const MappedLayout& source : layouts) {
      for (const MappedLayout& target : layouts) {
        if (++count % oracle::kThinning != 0) continue;
        check(source, target);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

/// Returns the distributions of one dimension for make_layouts(). In gen_block, coordinate 0 is empty.
std::vector<Distribution> some_distributions(std::int64_t size, std::int64_t extent) {
  Extents sizes(to_size_t(extent), 0);
  for (std::int64_t c = 0, remaining = size; c < extent; ++c) {
    sizes[to_size_t(c)] = c + 1 == extent ? remaining : std::min(remaining, c);
    remaining -= sizes[to_size_t(c)];
  }
  return {Distribution::blocked(),       Distribution::blocked(size / extent + 2),
          Distribution::balanced(),      Distribution::cyclic(),
          Distribution::cyclic(2),       Distribution::cyclic(3),
          Distribution::gen_block(sizes)};
}

/// Returns the layouts of a shape with all combinations of some_distributions() on at most `max_ranks` ranks.
std::vector<MappedLayout> make_layouts(const Extents& shape, std::int64_t max_ranks) {
  std::vector<MappedLayout> result;
  std::vector<Distribution> distributions;
  Extents grid;
  // Adds a distribution of the next dimension, on grids of at most `rank_limit` ranks, and then all later dimensions.
  const std::function<void(std::int64_t)> add_dimension = [&](std::int64_t rank_limit) {
    const std::size_t d = distributions.size();
    if (d == shape.size()) {
      for (const Order ranks : {Order::kC, Order::kFortran}) {
        if (ranks == Order::kFortran && grid.size() < 2) continue;
        for (const Order order : {Order::kC, Order::kFortran})
          if (order == Order::kC || shape.size() > 1)
            result.emplace_back(Layout(shape, distributions, grid, ranks, order));
      }
      return;
    }
    distributions.push_back(Distribution::collapsed());
    add_dimension(rank_limit);
    distributions.pop_back();
    for (std::int64_t extent = 2; extent <= rank_limit; ++extent) {
      grid.push_back(extent);
      for (const Distribution& distribution : some_distributions(shape[d], extent)) {
        distributions.push_back(distribution);
        add_dimension(rank_limit / extent);
        distributions.pop_back();
      }
      grid.pop_back();
    }
  };
  add_dimension(max_ranks);
  return result;
}

/// Checks all pairs of layouts of a shape, or `max_pairs` random pairs if there are more.
void check_pairs(const Extents& shape, std::int64_t max_ranks, std::int64_t max_pairs) {
  SCOPED_TRACE(testing::PrintToString(shape));
  const std::vector<MappedLayout> layouts = make_layouts(shape, max_ranks);
  const std::size_t pair_count = layouts.size() * layouts.size();
  max_pairs /= oracle::kThinning;
  if (pair_count <= to_size_t(max_pairs)) {
    for (const MappedLayout& source : layouts)
      for (const MappedLayout& target : layouts) {
        check(source, target);
        if (testing::Test::HasFatalFailure()) return;
      }
    return;
  }
  std::mt19937_64 random(shape.size() * 100 + to_size_t(shape[0]));
  for (std::int64_t n = 0; n < max_pairs; ++n) {
    check(layouts[random() % layouts.size()], layouts[random() % layouts.size()]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Conversion, PairsOfTwoDimensionalLayouts) {
  check_pairs({4, 3}, 3, 200'000);
  check_pairs({3, 5}, 4, 100'000);
  check_pairs({7, 6}, 6, 60'000);
  check_pairs({1, 6}, 6, 30'000);
  check_pairs({9, 2}, 6, 30'000);
  check_pairs({0, 3}, 4, 5'000);
}

TEST(Conversion, PairsOfThreeDimensionalLayouts) {
  check_pairs({2, 3, 2}, 4, 60'000);
  check_pairs({4, 3, 5}, 6, 40'000);
  check_pairs({1, 5, 3}, 6, 30'000);
  check_pairs({7, 1, 4}, 6, 30'000);
  check_pairs({3, 4, 1}, 6, 30'000);
}

TEST(Conversion, ScalarsAndShapesThatDiffer) {
  const MappedLayout scalar{Layout()};
  check(scalar, scalar);
  EXPECT_EQ(plait::compose(Layout(), Layout()).block(), 1);
  oracle::expect_rejected([] { plait::compose(Layout::parse("8x12 (*, *)"), Layout::parse("12x8 (*, *)")); },
                          "a conversion needs two layouts of one shape; the source is 8x12, the target 12x8");
  const plait::Conversion conversion(Layout::parse("8 (block) onto (2)"), Layout::parse("8 (cyclic) onto (3)"));
  oracle::expect_rejected([&] { (void)conversion.sends(2); }, "rank 2 is not in the layout");
  oracle::expect_rejected([&] { (void)conversion.receives(3); }, "rank 3 is not in the layout");
}

TEST(Conversion, MessagesOfACyclicAndABlockDimension) {
  const Layout source = Layout::parse("6x4 (cyclic(2), block) onto (2, 2)");
  EXPECT_EQ(oracle::list_indices(source.index_sets(0)[0]), (Extents{0, 1, 4, 5}));
  EXPECT_EQ(oracle::list_indices(source.index_sets(0)[1]), (Extents{0, 1}));
  const plait::Conversion conversion(source, Layout::parse("6x4 (*, *)"));
  EXPECT_EQ(conversion.sends(0), (std::vector<Message>{{0, 8, 4}}));
  EXPECT_EQ(conversion.block(), 2);
}

TEST(Conversion, ExplainsItself) {
  const plait::Conversion conversion(Layout::parse("8x12 (block, *) onto (4)"),
                                     Layout::parse("8x12 (*, block) onto (4)"));
  const std::string text = conversion.explain();
  EXPECT_NE(text.find("8x12 (block, *) onto (4)"), std::string::npos);
  EXPECT_NE(text.find("8x12 (*, block) onto (4)"), std::string::npos);
  EXPECT_NE(text.find("block   3 elements"), std::string::npos) << text;
  EXPECT_NE(text.find("72 of 96 elements between ranks, in 12 messages"), std::string::npos) << text;
  const plait::Conversion identity(conversion.source(), conversion.source());
  EXPECT_NE(identity.explain().find("nothing between ranks"), std::string::npos);
  const plait::Conversion large(Layout::parse("1000x12 (block, *) onto (100)"),
                                Layout::parse("1000x12 (*, block) onto (4)"));
  EXPECT_NE(large.explain().find("rank 0  sends 120 elements in 4 messages"), std::string::npos) << large.explain();
}

/// Converts the local arrays of all ranks from `source` to `target` by the pieces of the conversion, and returns the
/// resulting local arrays.
std::vector<std::vector<int>> convert(const Layout& source, const Layout& target,
                                      const std::vector<std::vector<int>>& parts) {
  std::vector<std::vector<int>> result;
  for (std::int64_t rank = 0; rank < target.size(); ++rank)
    result.emplace_back(to_size_t(target.local_elements(rank)), -1);
  for (std::int64_t from = 0; from < source.size(); ++from) {
    for (const plait::Message& message : plait::compose(source, target).sends(from)) {
      const std::int64_t to = message.rank;
      const auto products = plait::plan::products(source, from, target, to);
      EXPECT_EQ(products.size(), 1U);
      // Each common index in each dimension, with its position on both sides.
      std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> positions(products[0].size());
      Extents shape;
      for (std::size_t d = 0; d < positions.size(); ++d) {
        for (const auto& piece : products[0][d])
          for (std::int64_t t = 0; t < piece.count; ++t)
            for (std::int64_t i = 0; i < piece.length; ++i)
              positions[d].emplace_back(piece.a + t * piece.a_stride + i, piece.b + t * piece.b_stride + i);
        shape.push_back(static_cast<std::int64_t>(positions[d].size()));
      }
      Extents source_index(shape.size());
      Extents target_index(shape.size());
      std::int64_t elements = 0;
      oracle::for_each_index(shape, [&](const Extents& index) {
        for (std::size_t d = 0; d < shape.size(); ++d)
          std::tie(source_index[d], target_index[d]) = positions[d][to_size_t(index[d])];
        const std::int64_t source_offset =
            oracle::dense_offset(source_index, source.local_shape(from), oracle::storage_order(source));
        const std::int64_t target_offset =
            oracle::dense_offset(target_index, target.local_shape(to), oracle::storage_order(target));
        EXPECT_EQ(result[to_size_t(to)][to_size_t(target_offset)], -1) << "delivered twice";
        result[to_size_t(to)][to_size_t(target_offset)] = parts[to_size_t(from)][to_size_t(source_offset)];
        ++elements;
      });
      EXPECT_EQ(elements, message.elements);
    }
  }
  return result;
}

/// Returns the local arrays of all ranks, in which each element has its number in C order of the global index.
std::vector<std::vector<int>> make_parts(const MappedLayout& mapped) {
  std::vector<std::vector<int>> parts;
  for (std::int64_t rank = 0; rank < mapped.layout.size(); ++rank)
    parts.emplace_back(to_size_t(mapped.layout.local_elements(rank)), -1);
  for (std::size_t i = 0; i < mapped.map.positions.size(); ++i)
    parts[to_size_t(mapped.map.positions[i].rank)][to_size_t(mapped.map.positions[i].offset)] = static_cast<int>(i);
  return parts;
}

TEST(Conversion, TwoConversionsInARowEqualTheDirectOne) {
  std::mt19937_64 random(3);
  for (const Extents& shape : {Extents{11}, Extents{5, 4}, Extents{3, 4, 2}, Extents{0, 3}}) {
    const std::vector<MappedLayout> layouts = make_layouts(shape, 6);
    for (std::int64_t n = 0; n < 1500 / oracle::kThinning; ++n) {
      const MappedLayout& a = layouts[random() % layouts.size()];
      const MappedLayout& b = layouts[random() % layouts.size()];
      const MappedLayout& c = layouts[random() % layouts.size()];
      SCOPED_TRACE(oracle::describe(a.layout) + "  to  " + oracle::describe(b.layout) + "  to  " +
                   oracle::describe(c.layout));
      const auto at_b = convert(a.layout, b.layout, make_parts(a));
      ASSERT_EQ(at_b, make_parts(b));
      ASSERT_EQ(convert(b.layout, c.layout, at_b), make_parts(c));
      ASSERT_EQ(convert(a.layout, c.layout, make_parts(a)), make_parts(c));
      ASSERT_EQ(convert(b.layout, a.layout, at_b), make_parts(a));
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
