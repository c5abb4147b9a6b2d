// Layouts of several dimensions: grids, local arrays, normal forms and errors, compared with a map of all elements.
#include "plait/layout.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "oracle.hpp"

namespace {

using oracle::expect_rejected;
using oracle::to_size_t;
using plait::Distribution;
using plait::Extents;
using plait::IndexSet;
using plait::Layout;
using plait::Order;

constexpr Order kOrders[] = {Order::kC, Order::kFortran};

/// Calls visit(layout) for all layouts of a shape: with every distribution of the list for each dimension, and every
/// grid of at most `max_ranks` ranks.
template <typename Visit>
void for_each_layout(const Extents& shape, std::int64_t max_ranks, std::int64_t max_cyclic, Visit&& visit) {
  std::vector<Distribution> distributions_so_far;
  Extents grid;
  // Adds a distribution of the next dimension, on grids of at most `rank_limit` ranks, and then all later dimensions.
  const std::function<void(std::int64_t)> add_dimension = [&](std::int64_t rank_limit) {
    const std::size_t d = distributions_so_far.size();
    if (d == shape.size()) {
      for (const Order ranks : kOrders)
        for (const Order order : kOrders) visit(Layout(shape, distributions_so_far, grid, ranks, order));
      return;
    }
    distributions_so_far.push_back(Distribution::collapsed());
    add_dimension(rank_limit);
    distributions_so_far.pop_back();
    for (std::int64_t extent = 1; extent <= rank_limit; ++extent) {
      grid.push_back(extent);
      for (const Distribution& distribution : oracle::distributions_for(shape[d], extent, max_cyclic)) {
        distributions_so_far.push_back(distribution);
        add_dimension(rank_limit / extent);
        distributions_so_far.pop_back();
      }
      grid.pop_back();
    }
  };
  add_dimension(max_ranks);
}

/// Compares the functions of a layout with its map, for every element and every rank.
void check_against_map(const Layout& layout) {
  const oracle::ArrayMap map = oracle::make_map(layout);
  ASSERT_EQ(static_cast<std::size_t>(layout.size()), map.local_shapes.size());
  ASSERT_EQ(static_cast<std::size_t>(layout.elements()), map.positions.size());
  for (std::int64_t rank = 0; rank < layout.size(); ++rank) {
    ASSERT_EQ(layout.local_shape(rank), map.local_shapes[to_size_t(rank)]) << "rank " << rank;
    const std::vector<IndexSet> sets = layout.index_sets(rank);
    for (std::size_t d = 0; d < sets.size(); ++d)
      ASSERT_EQ(oracle::list_indices(sets[d]), map.indices[to_size_t(rank)][d]);
    ASSERT_EQ(layout.rank_at(layout.coordinates(rank)), rank);
  }
  std::size_t element = 0;
  oracle::for_each_index(layout.shape(), [&](const Extents& index) {
    const oracle::Position& position = map.positions[element++];
    ASSERT_EQ(layout.owner(index), position.rank);
    const Extents local = layout.to_local(index, position.rank);
    ASSERT_EQ(oracle::dense_offset(local, map.local_shapes[to_size_t(position.rank)], oracle::storage_order(layout)),
              position.offset);
    ASSERT_EQ(layout.to_global(local, position.rank), index);
  });
}

TEST(Layout, AgreesWithTheElementMap) {
  std::int64_t count = 0;
  for (const Extents& shape : {Extents{5, 3}, Extents{1, 4}, Extents{0, 2}, Extents{7, 6}}) {
    for_each_layout(shape, 6, 3, [&](const Layout& layout) {
      if (++count % (3 * oracle::kThinning) != 0 || testing::Test::HasFatalFailure()) return;
      SCOPED_TRACE(oracle::describe(layout));
      check_against_map(layout);
    });
  }
  for_each_layout({3, 2, 5}, 6, 2, [&](const Layout& layout) {
    if (++count % (61 * oracle::kThinning) != 0 || testing::Test::HasFatalFailure()) return;
    SCOPED_TRACE(oracle::describe(layout));
    check_against_map(layout);
  });
}

TEST(Layout, RanksAreNumberedInCOrFortranOrderOfTheGrid) {
  const std::vector<Distribution> distributions{Distribution::blocked(), Distribution::collapsed(),
                                                Distribution::cyclic(), Distribution::balanced()};
  const Layout c({8, 2, 9, 5}, distributions, {2, 3, 4});
  EXPECT_EQ(c.size(), 24);
  EXPECT_EQ(c.elements(), 720);
  EXPECT_EQ(c.coordinates(0), (Extents{0, 0, 0, 0}));
  EXPECT_EQ(c.coordinates(1), (Extents{0, 0, 0, 1}));
  EXPECT_EQ(c.coordinates(4), (Extents{0, 0, 1, 0}));
  EXPECT_EQ(c.coordinates(12), (Extents{1, 0, 0, 0}));
  EXPECT_EQ(c.coordinates_in(0), 2);
  EXPECT_EQ(c.coordinates_in(1), 1);
  const Layout fortran({8, 2, 9, 5}, distributions, {2, 3, 4}, Order::kFortran);
  EXPECT_EQ(fortran.coordinates(1), (Extents{1, 0, 0, 0}));
  EXPECT_EQ(fortran.coordinates(2), (Extents{0, 0, 1, 0}));
  EXPECT_EQ(fortran.coordinates(6), (Extents{0, 0, 0, 1}));
  EXPECT_FALSE(c == fortran);
}

TEST(Layout, ScalarsAndManyDimensions) {
  const Layout scalar;
  EXPECT_EQ(scalar.dimensions(), 0);
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(scalar.owner(Extents{}), 0);
  EXPECT_EQ(scalar.local_shape(0), Extents{});
  EXPECT_EQ(scalar.local_elements(0), 1);
  EXPECT_EQ(to_string(scalar), "scalar ()");
  EXPECT_EQ(Layout::parse("scalar ()"), scalar);

  const Extents many_twos(32, 2);
  std::vector<Distribution> distributions(32, Distribution::collapsed());
  distributions[5] = Distribution::cyclic();
  distributions[31] = Distribution::blocked();
  const Layout wide(many_twos, distributions, {2, 2});
  EXPECT_EQ(wide.elements(), std::int64_t{1} << 32);
  EXPECT_EQ(wide.local_elements(3), std::int64_t{1} << 30);
  EXPECT_EQ(Layout::parse(to_string(wide)), wide);
  expect_rejected([&] { Layout(Extents(33, 1), std::vector<Distribution>(33), {}); },
                  "the shape has 33 dimensions; at most 32 are supported");
}

TEST(Layout, ErrorsStateWhatIsWrong) {
  const auto block = Distribution::blocked();
  expect_rejected([&] { Layout({4}, {block, block}, {2, 2}); },
                  "the shape 4 has 1 dimension, but the number of distributions is 2");
  expect_rejected([&] { Layout({4, -1}, {block, block}, {2, 2}); }, "dimension 1 has the negative size -1");
  expect_rejected([&] { Layout({4, 4}, {block, block}, {4}); },
                  "the grid (4) has 1 axis, but the number of distributed dimensions is 2");
  expect_rejected([&] { Layout({4}, {Distribution::collapsed()}, {1}); },
                  "the grid (1) has 1 axis, but the number of distributed dimensions is 0");
  expect_rejected([&] { Layout({4, 4}, {block, block}, {4, 0}); }, "the grid (4, 0) has an extent below 1");
  expect_rejected([&] { Layout({4}, {block}, {-2}); }, "extent below 1");
  expect_rejected([&] { Layout({10}, {Distribution::blocked(2)}, {4}); },
                  "dimension 0: block(2) on 4 coordinates holds only 8 of 10 indices; use block(3) or more");
  expect_rejected([&] { Layout({10}, {Distribution::blocked(-2)}, {4}); }, "block(-2)");
  expect_rejected([&] { Layout({10}, {Distribution::cyclic(0)}, {4}); }, "cyclic(0) needs a block of 1 or more");
  expect_rejected([&] { Layout({10}, {Distribution::cyclic(-3)}, {4}); }, "cyclic(-3)");
  expect_rejected([&] { Layout({10}, {Distribution::gen_block({5, 5})}, {3}); },
                  "gen_block has 2 sizes for 3 coordinates");
  expect_rejected([&] { Layout({10}, {Distribution::gen_block({5, 4})}, {2}); }, "sum to 9, but the dimension has 10");
  expect_rejected([&] { Layout({10}, {Distribution::gen_block({12, -2})}, {2}); }, "negative size -2");
  expect_rejected([&] { Layout({10}, {Distribution::gen_block({INT64_MAX, 1})}, {2}); }, "2^63");
  const std::int64_t huge = std::int64_t{1} << 62;
  expect_rejected([&] { Layout({huge, 2}, {block, block}, {1, 1}); }, "number of elements");
  expect_rejected([&] { Layout({4, 4}, {block, block}, {huge, 2}); }, "number of ranks");
  EXPECT_EQ(Layout({huge, 0, huge}, {block, block, block}, {1, 1, 1}).elements(), 0);

  const Layout layout({6, 4}, {block, Distribution::cyclic()}, {2, 2});
  expect_rejected([&] { (void)layout.coordinates(4); }, "rank 4 is not in the layout");
  expect_rejected([&] { (void)layout.local_shape(-1); }, "rank -1 is not in the layout");
  expect_rejected([&] { (void)layout.owner(Extents{6, 0}); }, "the index (6, 0) is outside the array 6x4");
  expect_rejected([&] { (void)layout.owner(Extents{0, -1}); }, "(0, -1) is outside");
  expect_rejected([&] { (void)layout.owner(Extents{0}); }, "has length 1, but the array has 2 dimensions");
  expect_rejected([&] { (void)layout.to_local(Extents{0, 1}, 0); },
                  "rank 0 does not own the element (0, 1); rank 1 does");
  expect_rejected([&] { (void)layout.to_global(Extents{3, 0}, 0); },
                  "the local index (3, 0) is outside the local array 3x2 of rank 0");
  expect_rejected([&] { (void)layout.to_global(Extents{-1, 0}, 0); }, "(-1, 0)");
  expect_rejected([&] { (void)layout.to_global(Extents{0}, 0); }, "(0)");
}

/// Checks that layouts are equal if and only if each rank has the same indices of each dimension and the same element
/// at each position, and that equal layouts have one normal form and one text. Checks one of every `interval` layouts.
void check_normal_forms(const Extents& shape, std::int64_t max_ranks, std::int64_t max_cyclic, std::int64_t interval) {
  struct LayoutRecord {
    Layout layout;
    std::string text;
    oracle::ArrayMap map;
  };
  std::vector<LayoutRecord> by_map;  // one for each distinct map
  std::map<std::string, std::size_t> by_text;
  std::map<std::string, std::size_t> by_meaning;
  std::int64_t count = 0;
  for_each_layout(shape, max_ranks, max_cyclic, [&](const Layout& layout) {
    if (++count % interval != 0 || testing::Test::HasFatalFailure()) return;
    SCOPED_TRACE(oracle::describe(layout));
    const oracle::ArrayMap map = oracle::make_map(layout);
    std::string meaning;  // the map as a text: equal for equal layouts only
    for (const auto& position : map.positions)
      meaning += std::to_string(position.rank) + ':' + std::to_string(position.offset) + ' ';
    for (const auto& rank_indices : map.indices)
      for (const Extents& indices : rank_indices) {
        meaning += '/';
        for (const std::int64_t index : indices) meaning += static_cast<char>('0' + index);
      }
    const std::string text = to_string(layout);
    const auto [first, is_new] = by_meaning.try_emplace(meaning, by_map.size());
    if (is_new) by_map.push_back({layout, text, map});
    const LayoutRecord& same = by_map[first->second];
    ASSERT_EQ(text, same.text) << "equal to " << oracle::describe(same.layout);
    ASSERT_TRUE(layout == same.layout) << "equal to " << oracle::describe(same.layout);
    const auto [spelling, text_is_new] = by_text.try_emplace(text, first->second);
    ASSERT_EQ(spelling->second, first->second)
        << "the same text, but not equal to " << oracle::describe(by_map[spelling->second].layout);
    const Layout normal = layout.normal_form();
    ASSERT_TRUE(oracle::make_map(normal) == map) << "normal form " << oracle::describe(normal);
    ASSERT_EQ(normal, layout);
    if (!is_new) return;
    const Layout parsed = Layout::parse(text);
    ASSERT_EQ(parsed, layout);
    ASSERT_EQ(to_string(parsed), text);
    ASSERT_TRUE(oracle::make_map(parsed) == map);
  });
  // Layouts with different maps also differ by operator==, not only by their texts.
  const std::size_t pair_interval = by_map.size() / 150 + 1;
  for (std::size_t i = 0; i < by_map.size(); i += pair_interval)
    for (std::size_t j = 0; j < by_map.size(); j += pair_interval) {
      ASSERT_EQ(by_map[i].layout == by_map[j].layout, i == j)
          << oracle::describe(by_map[i].layout) << " and " << oracle::describe(by_map[j].layout);
    }
}

TEST(Layout, EqualLayoutsHaveOneNormalFormAndOneText) {
  // Most of the time is spent on enumerating the layouts, even if few of them are checked.
  const std::int64_t max_length = oracle::kSanitized ? 6 : 9;  // of one dimension
  const std::int64_t max_width = oracle::kSanitized ? 3 : 5;   // of each of two dimensions
  for (std::int64_t n = 0; n <= max_length; ++n) {
    SCOPED_TRACE(n);
    check_normal_forms({n}, 6, 6, n < (oracle::kSanitized ? 4 : 6) ? 1 : oracle::sample_interval());
  }
  for (std::int64_t n = 0; n <= max_width; ++n)
    for (std::int64_t m = 0; m <= max_width; ++m) {
      SCOPED_TRACE(testing::Message() << n << 'x' << m);
      check_normal_forms({n, m}, 4, 3, oracle::sample_interval());
    }
  for (const Extents& shape :
       {Extents{0, 2, 0}, Extents{2, 0, 1}, Extents{1, 1, 2}, Extents{0, 0, 0}, Extents{2, 1, 3}}) {
    SCOPED_TRACE(testing::PrintToString(shape));
    check_normal_forms(shape, 6, 2, 5 * oracle::sample_interval());
  }
}

TEST(Layout, PrintsTheNormalForm) {
  const auto text = [](const char* spelling) { return to_string(Layout::parse(spelling)); };
  EXPECT_EQ(text("8x12 (block, cyclic(3)) onto (2, 2)"), "8x12 (block, cyclic(3)) onto (2, 2)");
  EXPECT_EQ(text("8x12 (*, *)"), "8x12 (*, *)");
  EXPECT_EQ(text("8x12 (block, *) onto (1)"), "8x12 (*, *)");
  EXPECT_EQ(text("8 (cyclic(4)) onto (2)"), "8 (block) onto (2)");
  EXPECT_EQ(text("8 (gen_block(4, 4)) onto (2)"), "8 (block) onto (2)");
  EXPECT_EQ(text("8 (gen_block(3, 3, 2)) onto (3)"), "8 (block) onto (3)");
  EXPECT_EQ(text("7 (gen_block(3, 2, 2)) onto (3)"), "7 (balanced) onto (3)");
  EXPECT_EQ(text("7 (gen_block(5, 2, 0)) onto (3)"), "7 (block(5)) onto (3)");
  EXPECT_EQ(text("7 (gen_block(0, 5, 2)) onto (3)"), "7 (gen_block(0, 5, 2)) onto (3)");
  EXPECT_EQ(text("4x4 (block, block) onto (2, 2) ranks=F order=F"), "4x4 (block, block) onto (2, 2) ranks=F order=F");
  EXPECT_EQ(text("4x4 (block, *) onto (4) ranks=F order=F"), "4x4 (block, *) onto (4)");
  EXPECT_EQ(text("4x4 (block, *) onto (2) ranks=F order=F"), "4x4 (block, *) onto (2) order=F");
}

}  // namespace
