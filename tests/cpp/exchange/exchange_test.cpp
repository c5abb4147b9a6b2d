// Redistribution by teams of threads and in one process, compared with copies element by element.
#include <algorithm>
#include <cstring>

#include "exchange_case.hpp"

namespace {

using namespace redistribute_case;

TEST(Redistribute, TeamsCopyEveryElementToItsPosition) {
  Random random(5);
  for (int i = 0; i < (oracle::kSanitized ? 200 : 3000); ++i) {
    const int workers = static_cast<int>(pick(random, 1, 6));
    const Extents& shape = pick(random, kShapes);
    const Layout source = access_case::random_layout(random, shape, workers);
    const Layout target = access_case::random_layout(random, shape, workers);
    const std::int64_t element_bytes = pick(random, std::vector<std::int64_t>{1, 2, 3, 8, 12, 100});
    // The memory leads to windows of one element, of a few and of the usual size.
    const int workers_per_node = static_cast<int>(pick(random, 0, 2));  // 0: all workers share one node
    const bool see_all = pick(random, 0, 1) == 0;
    const std::int64_t min_memory = (workers_per_node == 0 ? 2 : 4) * element_bytes;
    const std::int64_t memory = pick(random, std::vector<std::int64_t>{min_memory, 3 * min_memory, 1 << 20});
    SCOPED_TRACE(describe(source, target, element_bytes, memory));
    std::vector<Bytes> before = make_arrays(source, element_bytes);
    const std::vector<Bytes> original = before;
    const std::vector<Bytes> expected = make_arrays(target, element_bytes);
    std::vector<Bytes> after = untouched_like(expected);
    const auto from = access_case::arrays_over(source, before, element_bytes);
    const auto to = access_case::arrays_over(target, after, element_bytes);
    run_team(workers, [&](Transport& transport) {
      // Threads access all arrays directly; processes use only windows.
      wrapped::LikeProcesses processes(transport);
      Transport& node_transport = see_all ? transport : static_cast<Transport&>(processes);
      if (workers_per_node == 0) {
        redistribute_by(node_transport, whole_arrays(source, target), from, to, element_bytes, memory);
      } else {
        wrapped::SeveralNodes nodes(node_transport, workers_per_node);
        redistribute_by(nodes, whole_arrays(source, target), from, to, element_bytes, memory);
      }
    });
    ASSERT_TRUE(after == expected) << "on nodes of " << workers_per_node;
    ASSERT_TRUE(before == original);
  }
}

TEST(Redistribute, TooLittleMemoryIsAnErrorOnAllRanksBeforeAnythingIsCopied) {
  // In windows of one element, a message of 2^21 doubles needs more windows than the counter of a pair can count.
  const Extents shape{3 << 21};
  const Layout source(shape, {plait::Distribution::gen_block({1 << 21, 2 << 21, 0})}, {3});
  const Layout target(shape, {plait::Distribution::gen_block({0, 1 << 21, 2 << 21})}, {3});
  for (const std::int64_t memory : {15, 16}) {
    std::array<std::string, 3> messages;
    run_team(3, [&](Transport& transport) {
      const auto rank = static_cast<std::size_t>(transport.rank());
      try {
        plait::collective::agree(transport, plait::collective::caught([&] {
                                   const Exchange planned(whole_arrays(source, target), 8, memory, transport);
                                 }));
      } catch (const plait::Error& error) {
        messages[rank] = error.what();
      }
    });
    for (const std::string& message : messages)
      EXPECT_NE(message.find("too few for this redistribution"), std::string::npos) << message;
  }
}

TEST(Redistribute, ATeamMayRedistributeRepeatedly) {
  constexpr int kWorkers = 4;
  const Extents shape{12, 10};
  Random random(6);
  std::vector<Layout> layouts;
  for (int i = 0; i < 40; ++i) layouts.push_back(access_case::random_layout(random, shape, kWorkers));
  layouts.push_back(layouts.front());
  std::vector<std::vector<Bytes>> arrays{make_arrays(layouts[0], 8)};
  std::vector<std::vector<LocalArray>> views{access_case::arrays_over(layouts[0], arrays[0], 8)};
  arrays.reserve(layouts.size());
  for (std::size_t i = 1; i < layouts.size(); ++i) arrays.push_back(untouched_like(make_arrays(layouts[i], 8)));
  views.clear();
  for (std::size_t i = 0; i < layouts.size(); ++i) views.push_back(access_case::arrays_over(layouts[i], arrays[i], 8));
  run_team(kWorkers, [&](Transport& transport) {
    for (std::size_t i = 0; i + 1 < layouts.size(); ++i)
      redistribute_by(transport, whole_arrays(layouts[i], layouts[i + 1]), views[i], views[i + 1], 8,
                      i % 3 == 0 ? 32 : std::int64_t{1} << (4 + i % 12));
  });
  for (std::size_t i = 0; i < layouts.size(); ++i)
    ASSERT_TRUE(arrays[i] == make_arrays(layouts[i], 8)) << "layout " << i;
}

TEST(Redistribute, OneProcessGathersAllTargets) {
  Random random(7);
  for (int i = 0; i < (oracle::kSanitized ? 200 : 2000); ++i) {
    const Extents& shape = pick(random, kShapes);
    const Layout source = access_case::random_layout(random, shape, pick(random, 1, 6));
    const Layout target = access_case::random_layout(random, shape, pick(random, 1, 6));
    const std::int64_t element_bytes = pick(random, std::vector<std::int64_t>{1, 8, 12});
    SCOPED_TRACE(describe(source, target, element_bytes, 0));
    std::vector<Bytes> before = make_arrays(source, element_bytes);
    const std::vector<Bytes> expected = make_arrays(target, element_bytes);
    std::vector<Bytes> after = untouched_like(expected);
    const auto from = access_case::arrays_over(source, before, element_bytes);
    const auto to = access_case::arrays_over(target, after, element_bytes);
    plait::exchange::gather_all(whole_arrays(source, target), from, to, element_bytes,
                                static_cast<int>(pick(random, 1, 3)));
    ASSERT_TRUE(after == expected);
  }
}

TEST(Redistribute, LocalArraysMayHaveAnyStrides) {
  const Layout source({4, 6}, {Distribution::blocked(), {}}, {2});
  const Layout target({4, 6}, {{}, Distribution::cyclic()}, {2});
  std::vector<Bytes> before = make_arrays(source, 2);
  const std::vector<Bytes> expected = make_arrays(target, 2);
  std::vector<Bytes> after(2, Bytes(4 * 3 * 2, kUntouched));
  // The rows of each source array are in reverse order in memory; the targets are in Fortran order with negative
  // strides.
  std::vector<Bytes> reversed(2, Bytes(2 * 6 * 2));
  std::vector<LocalArray> from;
  std::vector<LocalArray> to;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t byte = 0; byte < 12; ++byte)
        reversed[rank][(1 - row) * 12 + byte] = before[rank][row * 12 + byte];
    from.push_back({static_cast<std::int64_t>(rank), reversed[rank].data() + 12, {-12, 2}});
    to.push_back({static_cast<std::int64_t>(rank), after[rank].data() + 22, {-2, -8}});
  }
  for (const std::int64_t memory : {8, 1 << 20}) {
    for (Bytes& array : after) std::fill(array.begin(), array.end(), kUntouched);
    run_team(2, [&](Transport& transport) {
      wrapped::LikeProcesses processes(transport);
      redistribute_by(memory == 8 ? static_cast<Transport&>(processes) : transport, whole_arrays(source, target), from,
                      to, 2, memory);
    });
    for (std::size_t rank = 0; rank < 2; ++rank)
      for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t column = 0; column < 3; ++column)
          for (std::size_t byte = 0; byte < 2; ++byte)
            ASSERT_EQ(after[rank][22 - 2 * row - 8 * column + byte], expected[rank][(row * 3 + column) * 2 + byte]);
  }
}

TEST(Redistribute, OneProcessUsesSeveralThreadsForLargeArrays) {
  const Layout source({300, 1000}, {Distribution::blocked(), Distribution::cyclic(3)}, {3, 2});
  const Layout target({300, 1000}, {Distribution::cyclic(), Distribution::blocked()}, {2, 4}, Order::kFortran,
                      Order::kFortran);
  const std::vector<Bytes> before = make_arrays(source, 16);
  const std::vector<Bytes> expected = make_arrays(target, 16);
  std::vector<Bytes> after = untouched_like(expected);
  plait::redistribute(source, const_parts(before), target, mutable_parts(after), 16);
  EXPECT_TRUE(after == expected);
}

TEST(Redistribute, MismatchedArgumentsAreErrors) {
  const Layout rows({4, 6}, {Distribution::blocked(), {}}, {2});
  const Layout columns({4, 6}, {{}, Distribution::blocked()}, {3});
  const Layout other({4, 5}, {{}, Distribution::blocked()}, {3});
  std::vector<Bytes> two = make_arrays(rows, 8);
  std::vector<Bytes> three = untouched_like(make_arrays(columns, 8));
  const auto from = const_parts(two);
  auto to = mutable_parts(three);
  const auto call = [&](const Layout& target, std::int64_t bytes, std::int64_t memory) {
    return [&, bytes, memory] {
      plait::RedistributionOptions options;
      options.memory = memory;
      plait::redistribute(rows, from, target, to, bytes, {}, options);
    };
  };
  expect_rejected(call(other, 8, 0), "4x5");
  expect_rejected(call(columns, 0, 0), "an element cannot have 0 bytes");
  expect_rejected(call(columns, 8, -1), "memory=-1");
  to.pop_back();
  expect_rejected(call(columns, 8, 0), "2 local arrays were given for 3 ranks");
  to.push_back({nullptr, {}});
  expect_rejected(call(columns, 8, 0), "rank 2 is missing");
  to.back() = {three[2].data(), {8}};
  expect_rejected(call(columns, 8, 0), "rank 2 has 1 dimensions, but the layout has 2");
}

TEST(Redistribute, LargeArraysAreCopiedByRowsAndTiles) {
  // Makes the library treat these arrays like arrays of megabytes, which it writes past the caches.
  const std::int64_t previous = plait::exchange::streamed_target.exchange(1);
  const Extents shape{300, 330};
  using plait::Order;
  const std::vector<Layout> layouts{
      {shape, {Distribution::cyclic(), Distribution::cyclic()}, {2, 2}},
      {shape, {Distribution::cyclic(36), Distribution::cyclic(36)}, {2, 2}},
      {shape, {Distribution::cyclic(128), Distribution::cyclic(128)}, {2, 2}, Order::kFortran},
      {shape, {Distribution::blocked(), {}}, {4}},
      {shape, {Distribution::blocked(), {}}, {4}, Order::kC, Order::kFortran},
      {shape, {{}, Distribution::cyclic(5)}, {4}},
      {shape, {{}, Distribution::cyclic(27)}, {4}},  // short runs, which are joined
  };
  for (const std::int64_t element_bytes : oracle::kSanitized ? Extents{8} : Extents{1, 4, 8, 12}) {
    // For each layout: the source arrays, the target arrays, and views of both.
    std::vector<std::vector<Bytes>> arrays, targets;
    for (const Layout& layout : layouts) {
      arrays.push_back(make_arrays(layout, element_bytes));
      targets.push_back(untouched_like(arrays.back()));
    }
    std::vector<std::vector<LocalArray>> from, to;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      from.push_back(access_case::arrays_over(layouts[i], arrays[i], element_bytes));
      to.push_back(access_case::arrays_over(layouts[i], targets[i], element_bytes));
    }
    for (std::size_t s = 0; s < layouts.size(); ++s)
      for (std::size_t t = 0; t < layouts.size(); ++t) {
        const Layout &source = layouts[s], &target = layouts[t];
        SCOPED_TRACE(describe(source, target, element_bytes, 0));
        for (const bool see_all : {true, false}) {
          for (Bytes& array : targets[t]) std::ranges::fill(array, kUntouched);
          run_team(4, [&](Transport& transport) {
            wrapped::LikeProcesses processes(transport);
            redistribute_by(see_all ? transport : static_cast<Transport&>(processes), whole_arrays(source, target),
                            from[s], to[t], element_bytes, 1 << 20);
          });
          for (std::size_t rank = 0; rank < targets[t].size(); ++rank)
            ASSERT_EQ(std::memcmp(targets[t][rank].data(), arrays[t][rank].data(), arrays[t][rank].size()), 0)
                << (see_all ? "seen by all" : "by windows");
        }
      }
  }
  plait::exchange::streamed_target = previous;
}

}  // namespace
