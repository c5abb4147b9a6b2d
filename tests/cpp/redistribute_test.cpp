// Redistribution by teams of threads and in one process against element by element copies.
#include "engine/redistribute.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/access.hpp"
#include "engine/agree.hpp"
#include "engine_case.hpp"
#include "plait/redistribute.hpp"
#include "transport/shared_area.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace {

using engine_case::Bytes;
using engine_case::Case;
using engine_case::pick;
using engine_case::Random;
using oracle::at;
using oracle::expect_refused;
using plait::ConstPart;
using plait::Distribution;
using plait::Extents;
using plait::Layout;
using plait::MutablePart;
using plait::Order;
using plait::engine::Exchange;
using plait::engine::LocalArray;
using plait::engine::Reach;
using plait::plan::Pairs;
using plait::transport::Transport;
using plait::transport::thread::run_team;

constexpr std::byte kUntouched{0xE1};

/// The local arrays of a layout over an array whose bytes tell their places.
std::vector<Bytes> filled(const Layout& layout, std::int64_t element_bytes) {
  const Case access{layout.shape(), Order::kC, {}, layout, element_bytes, 0};
  return engine_case::locals_of(access, engine_case::pattern(engine_case::store_bytes(access)));
}

std::vector<Bytes> untouched_like(const std::vector<Bytes>& arrays) {
  std::vector<Bytes> result;
  for (const Bytes& array : arrays) result.emplace_back(array.size(), kUntouched);
  return result;
}

Pairs whole(const Layout& source, const Layout& target) { return {source, target}; }

void move(Transport& transport, Exchange& exchange, const LocalArray* from, const LocalArray* to) {
  plait::engine::prepare(transport);
  exchange.announce(from, to);
  plait::engine::agree(transport, "run", nullptr);
  plait::engine::agree(transport, plait::engine::caught([&] {
                         if (exchange.pairs().elements() > 0) exchange.run();
                       }));
}

/// One worker's redistribution of arrays of all ranks.
void redistribute_by(Transport& transport, const Pairs& pairs, const std::vector<LocalArray>& from,
                     const std::vector<LocalArray>& to, std::int64_t element_bytes, std::int64_t memory) {
  const auto mine = [&](const Layout& layout, const std::vector<LocalArray>& arrays) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    return rank < arrays.size() && layout.local_elements(transport.rank()) > 0 ? &arrays[rank] : nullptr;
  };
  std::optional<Exchange> exchange;
  plait::engine::agree(transport, "plan",
                       plait::engine::caught([&] { exchange.emplace(pairs, element_bytes, memory, transport); }));
  move(transport, *exchange, mine(pairs.source(), from), mine(pairs.target(), to));
}

std::string print(const Layout& source, const Layout& target, std::int64_t element_bytes, std::int64_t memory) {
  return oracle::spelled(source) + " -> " + oracle::spelled(target) + ", elements of " + std::to_string(element_bytes) +
         " bytes, memory " + std::to_string(memory);
}

const std::vector<Extents> kShapes{{1}, {7}, {0}, {100}, {5, 6}, {1, 9}, {8, 8}, {3, 4, 5}, {2, 0, 3}, {2, 3, 2, 4}};

TEST(Redistribute, TeamsMoveEveryElementToItsPlace) {
  Random random(5);
  for (int i = 0; i < (oracle::kSanitized ? 200 : 3000); ++i) {
    const int workers = static_cast<int>(pick(random, 1, 6));
    const Extents& shape = pick(random, kShapes);
    const Layout source = engine_case::random_layout(random, shape, workers);
    const Layout target = engine_case::random_layout(random, shape, workers);
    const std::int64_t element_bytes = pick(random, std::vector<std::int64_t>{1, 2, 3, 8, 12, 100});
    // Windows of one element, of a few and of the usual size.
    const int on_node = static_cast<int>(pick(random, 0, 2));  // 0: all share one
    const bool see_all = pick(random, 0, 1) == 0;
    const std::int64_t least = (on_node == 0 ? 2 : 4) * element_bytes;
    const std::int64_t memory = pick(random, std::vector<std::int64_t>{least, 3 * least, 1 << 20});
    SCOPED_TRACE(print(source, target, element_bytes, memory));
    std::vector<Bytes> before = filled(source, element_bytes);
    const std::vector<Bytes> kept = before;
    const std::vector<Bytes> expected = filled(target, element_bytes);
    std::vector<Bytes> after = untouched_like(expected);
    const auto from = engine_case::arrays_over(source, before, element_bytes);
    const auto to = engine_case::arrays_over(target, after, element_bytes);
    run_team(workers, [&](Transport& transport) {
      // Threads reach all arrays; like processes they have windows alone.
      wrapped::LikeProcesses processes(transport);
      Transport& kind = see_all ? transport : static_cast<Transport&>(processes);
      if (on_node == 0) {
        redistribute_by(kind, whole(source, target), from, to, element_bytes, memory);
      } else {
        wrapped::SeveralNodes nodes(kind, on_node);
        redistribute_by(nodes, whole(source, target), from, to, element_bytes, memory);
      }
    });
    ASSERT_TRUE(after == expected) << "on nodes of " << on_node;
    ASSERT_TRUE(before == kept);
  }
}

TEST(Redistribute, TooLittleMemoryIsRefusedByAllBeforeAnythingMoves) {
  // A message of 2^21 doubles in windows of one element would pass what a pair can count.
  const Extents shape{3 << 21};
  const Layout source(shape, {plait::Distribution::gen_block({1 << 21, 2 << 21, 0})}, {3});
  const Layout target(shape, {plait::Distribution::gen_block({0, 1 << 21, 2 << 21})}, {3});
  for (const std::int64_t memory : {15, 16}) {
    std::array<std::string, 3> messages;
    run_team(3, [&](Transport& transport) {
      const auto rank = static_cast<std::size_t>(transport.rank());
      try {
        plait::engine::agree(transport, plait::engine::caught([&] {
                               const Exchange planned(whole(source, target), 8, memory, transport);
                             }));
      } catch (const plait::Error& error) {
        messages[rank] = error.what();
      }
    });
    for (const std::string& message : messages)
      EXPECT_NE(message.find("too few for this redistribution"), std::string::npos) << message;
  }
}

TEST(Redistribute, ATeamMayMoveAgainAndAgain) {
  constexpr int kWorkers = 4;
  const Extents shape{12, 10};
  Random random(6);
  std::vector<Layout> layouts;
  for (int i = 0; i < 40; ++i) layouts.push_back(engine_case::random_layout(random, shape, kWorkers));
  layouts.push_back(layouts.front());
  std::vector<std::vector<Bytes>> arrays{filled(layouts[0], 8)};
  std::vector<std::vector<LocalArray>> views{engine_case::arrays_over(layouts[0], arrays[0], 8)};
  arrays.reserve(layouts.size());
  for (std::size_t i = 1; i < layouts.size(); ++i) arrays.push_back(untouched_like(filled(layouts[i], 8)));
  views.clear();
  for (std::size_t i = 0; i < layouts.size(); ++i) views.push_back(engine_case::arrays_over(layouts[i], arrays[i], 8));
  run_team(kWorkers, [&](Transport& transport) {
    for (std::size_t i = 0; i + 1 < layouts.size(); ++i)
      redistribute_by(transport, whole(layouts[i], layouts[i + 1]), views[i], views[i + 1], 8,
                      i % 3 == 0 ? 32 : std::int64_t{1} << (4 + i % 12));
  });
  for (std::size_t i = 0; i < layouts.size(); ++i) ASSERT_TRUE(arrays[i] == filled(layouts[i], 8)) << "step " << i;
}

TEST(Redistribute, OneProcessGathersAllTargets) {
  Random random(7);
  for (int i = 0; i < (oracle::kSanitized ? 200 : 2000); ++i) {
    const Extents& shape = pick(random, kShapes);
    const Layout source = engine_case::random_layout(random, shape, pick(random, 1, 6));
    const Layout target = engine_case::random_layout(random, shape, pick(random, 1, 6));
    const std::int64_t element_bytes = pick(random, std::vector<std::int64_t>{1, 8, 12});
    SCOPED_TRACE(print(source, target, element_bytes, 0));
    std::vector<Bytes> before = filled(source, element_bytes);
    const std::vector<Bytes> expected = filled(target, element_bytes);
    std::vector<Bytes> after = untouched_like(expected);
    const auto from = engine_case::arrays_over(source, before, element_bytes);
    const auto to = engine_case::arrays_over(target, after, element_bytes);
    plait::engine::gather_all(whole(source, target), from, to, element_bytes, static_cast<int>(pick(random, 1, 3)));
    ASSERT_TRUE(after == expected);
  }
}

TEST(Redistribute, LocalArraysMayHaveAnySteps) {
  const Layout source({4, 6}, {Distribution::block_of(), {}}, {2});
  const Layout target({4, 6}, {{}, Distribution::cyclic()}, {2});
  std::vector<Bytes> before = filled(source, 2);
  const std::vector<Bytes> expected = filled(target, 2);
  std::vector<Bytes> after(2, Bytes(4 * 3 * 2, kUntouched));
  // Each source array's rows are turned around in memory; the targets lie in Fortran order, backwards.
  std::vector<Bytes> turned(2, Bytes(2 * 6 * 2));
  std::vector<LocalArray> from;
  std::vector<LocalArray> to;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t byte = 0; byte < 12; ++byte) turned[rank][(1 - row) * 12 + byte] = before[rank][row * 12 + byte];
    from.push_back({static_cast<std::int64_t>(rank), turned[rank].data() + 12, {-12, 2}});
    to.push_back({static_cast<std::int64_t>(rank), after[rank].data() + 22, {-2, -8}});
  }
  for (const std::int64_t memory : {8, 1 << 20}) {
    for (Bytes& array : after) std::fill(array.begin(), array.end(), kUntouched);
    run_team(2, [&](Transport& transport) {
      wrapped::LikeProcesses processes(transport);
      redistribute_by(memory == 8 ? static_cast<Transport&>(processes) : transport, whole(source, target), from, to, 2,
                      memory);
    });
    for (std::size_t rank = 0; rank < 2; ++rank)
      for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t column = 0; column < 3; ++column)
          for (std::size_t byte = 0; byte < 2; ++byte)
            ASSERT_EQ(after[rank][22 - 2 * row - 8 * column + byte], expected[rank][(row * 3 + column) * 2 + byte]);
  }
}

std::vector<ConstPart> const_parts(const std::vector<Bytes>& arrays) {
  std::vector<ConstPart> result;
  for (const Bytes& array : arrays) result.push_back({array.data(), {}});
  return result;
}

std::vector<MutablePart> mutable_parts(std::vector<Bytes>& arrays) {
  std::vector<MutablePart> result;
  for (Bytes& array : arrays) result.push_back({array.data(), {}});
  return result;
}

TEST(Redistribute, OneProcessUsesSeveralThreadsForLargeArrays) {
  const Layout source({300, 1000}, {Distribution::block_of(), Distribution::cyclic(3)}, {3, 2});
  const Layout target({300, 1000}, {Distribution::cyclic(), Distribution::block_of()}, {2, 4}, Order::kFortran,
                      Order::kFortran);
  const std::vector<Bytes> before = filled(source, 16);
  const std::vector<Bytes> expected = filled(target, 16);
  std::vector<Bytes> after = untouched_like(expected);
  plait::redistribute(source, const_parts(before), target, mutable_parts(after), 16);
  EXPECT_TRUE(after == expected);
}

TEST(Redistribute, RefusesWhatDoesNotFit) {
  const Layout rows({4, 6}, {Distribution::block_of(), {}}, {2});
  const Layout columns({4, 6}, {{}, Distribution::block_of()}, {3});
  const Layout other({4, 5}, {{}, Distribution::block_of()}, {3});
  std::vector<Bytes> two = filled(rows, 8);
  std::vector<Bytes> three = untouched_like(filled(columns, 8));
  const auto from = const_parts(two);
  auto to = mutable_parts(three);
  const auto call = [&](const Layout& target, std::int64_t bytes, std::int64_t memory) {
    return [&, bytes, memory] {
      plait::RedistributionOptions options;
      options.memory = memory;
      plait::redistribute(rows, from, target, to, bytes, {}, options);
    };
  };
  expect_refused(call(other, 8, 0), "4x5");
  expect_refused(call(columns, 0, 0), "elements of 0 bytes");
  expect_refused(call(columns, 8, -1), "memory=-1");
  to.pop_back();
  expect_refused(call(columns, 8, 0), "2 local arrays were given for 3 ranks");
  to.push_back({nullptr, {}});
  expect_refused(call(columns, 8, 0), "rank 2 is missing");
  to.back() = {three[2].data(), {8}};
  expect_refused(call(columns, 8, 0), "rank 2 has 1 dimensions, the layout 2");
}

/// The arrays of a worker: in memory that the node shares, or of its own.
struct Held {
  Held(Transport& transport, bool shared, const Bytes& content) {
    if (shared) part = transport.share(static_cast<std::int64_t>(content.size()));
    own = content;
    if (shared) std::copy(content.begin(), content.end(), part->data());
  }
  std::byte* data() { return part ? part->data() : own.data(); }
  std::unique_ptr<plait::transport::SharedPart> part;
  Bytes own;
};

TEST(Redistribute, FindsOutWhatIsInReach) {
  Random random(8);
  for (int i = 0; i < (oracle::kSanitized ? 60 : 600); ++i) {
    const int workers = static_cast<int>(pick(random, 1, 6));
    const Extents& shape = pick(random, kShapes);
    const Layout source = engine_case::random_layout(random, shape, workers);
    const Layout target = engine_case::random_layout(random, shape, workers);
    const bool share_sources = pick(random, 0, 1) == 0;
    const bool share_targets = pick(random, 0, 1) == 0;
    SCOPED_TRACE(print(source, target, 8, i));
    const std::vector<Bytes> before = filled(source, 8);
    const std::vector<Bytes> expected = filled(target, 8);
    std::vector<Bytes> after = untouched_like(expected);
    run_team(workers, [&](Transport& transport) {
      wrapped::LikeProcesses processes(transport);
      const auto rank = static_cast<std::size_t>(transport.rank());
      Held from(processes, share_sources, before[rank]);
      Held to(processes, share_targets, after[rank]);
      const auto view = [&](const Layout& layout, Held& held) {
        return LocalArray{transport.rank(), held.data(),
                          engine_case::dense_steps(layout.local_shape(transport.rank()), oracle::order_of(layout), 8)};
      };
      const LocalArray mine = view(source, from);
      const LocalArray wanted = view(target, to);
      Exchange exchange(whole(source, target), 8, 1 << 20, processes);
      for (int turn = 0; turn < 2; ++turn) {
        std::fill_n(to.data(), after[rank].size(), kUntouched);
        move(processes, exchange, before[rank].empty() ? nullptr : &mine, after[rank].empty() ? nullptr : &wanted);
        if (source.elements() > 0) {
          EXPECT_EQ(*exchange.reach(), share_sources ? (share_targets ? Reach::kBoth : Reach::kSources)
                                                     : (share_targets ? Reach::kTargets : Reach::kNeither));
        }
        after[rank].assign(to.data(), to.data() + after[rank].size());
        EXPECT_TRUE(after[rank] == expected[rank]);
      }
    });
    ASSERT_TRUE(after == expected);
  }
}

TEST(Redistribute, LargeArraysGoByRowsAndTiles) {
  // As arrays of megabytes are, with runs short enough for row programs.
  const std::int64_t usual = plait::engine::streamed_target.exchange(1);
  const Extents shape{300, 330};
  using plait::Order;
  const std::vector<Layout> layouts{
      {shape, {Distribution::cyclic(), Distribution::cyclic()}, {2, 2}},
      {shape, {Distribution::cyclic(36), Distribution::cyclic(36)}, {2, 2}},
      {shape, {Distribution::cyclic(128), Distribution::cyclic(128)}, {2, 2}, Order::kFortran},
      {shape, {Distribution::block_of(), {}}, {4}},
      {shape, {Distribution::block_of(), {}}, {4}, Order::kC, Order::kFortran},
      {shape, {{}, Distribution::cyclic(5)}, {4}},
  };
  for (const Layout& source : layouts)
    for (const Layout& target : layouts) {
      for (const std::int64_t element_bytes : oracle::kSanitized ? Extents{8} : Extents{1, 4, 8, 12}) {
        SCOPED_TRACE(print(source, target, element_bytes, 0));
        std::vector<Bytes> before = filled(source, element_bytes);
        const std::vector<Bytes> expected = filled(target, element_bytes);
        for (const bool see_all : {true, false}) {
          std::vector<Bytes> after = untouched_like(expected);
          const auto from = engine_case::arrays_over(source, before, element_bytes);
          const auto to = engine_case::arrays_over(target, after, element_bytes);
          run_team(4, [&](Transport& transport) {
            wrapped::LikeProcesses processes(transport);
            redistribute_by(see_all ? transport : static_cast<Transport&>(processes), whole(source, target), from, to,
                            element_bytes, 1 << 20);
          });
          ASSERT_TRUE(after == expected) << (see_all ? "seen by all" : "by windows");
        }
      }
    }
  plait::engine::streamed_target = usual;
}

TEST(Redistribute, MovesSectionsOfDifferentNumbersOfRanks) {
  Random random(9);
  for (int i = 0; i < (oracle::kSanitized ? 100 : 1500); ++i) {
    Extents from_shape;
    Extents to_shape;
    plait::plan::SectionPair section;
    const std::int64_t dimensions = pick(random, 1, 3);
    for (std::int64_t d = 0; d < dimensions; ++d) {
      const std::int64_t extent = pick(random, 0, 9);
      section.shape.push_back(extent);
      section.source_origin.push_back(pick(random, 0, 5));
      section.target_origin.push_back(pick(random, 0, 5));
      from_shape.push_back(section.source_origin.back() + extent + pick(random, 0, 4));
      to_shape.push_back(section.target_origin.back() + extent + pick(random, 0, 4));
    }
    const Layout source = engine_case::random_layout(random, from_shape, pick(random, 1, 5));
    const Layout target = engine_case::random_layout(random, to_shape, pick(random, 1, 5));
    SCOPED_TRACE(print(source, target, 2, i));
    const Pairs pairs(source, target, false, section);
    std::vector<Bytes> before = filled(source, 2);
    std::vector<Bytes> after = untouched_like(filled(target, 2));
    std::vector<Bytes> expected = after;
    const oracle::ArrayMap from_map = oracle::map_of(source);
    const oracle::ArrayMap to_map = oracle::map_of(target);
    oracle::for_each_index(section.shape, [&](const Extents& index) {
      Extents a = index;
      Extents b = index;
      for (std::size_t d = 0; d < a.size(); ++d) {
        a[d] += section.source_origin[d];
        b[d] += section.target_origin[d];
      }
      const oracle::Place from = from_map.places[at(oracle::offset_of(a, from_shape, Order::kC))];
      const oracle::Place to = to_map.places[at(oracle::offset_of(b, to_shape, Order::kC))];
      for (std::int64_t byte = 0; byte < 2; ++byte)
        expected[at(to.rank)][at(to.offset * 2 + byte)] = before[at(from.rank)][at(from.offset * 2 + byte)];
    });
    const auto from = engine_case::arrays_over(source, before, 2);
    const auto to = engine_case::arrays_over(target, after, 2);
    plait::engine::gather_all(pairs, from, to, 2, 2);
    ASSERT_TRUE(after == expected) << "in one process";
    for (const bool see_all : {true, false}) {
      for (Bytes& array : after) std::fill(array.begin(), array.end(), kUntouched);
      run_team(static_cast<int>(std::max(source.size(), target.size())), [&](Transport& transport) {
        wrapped::LikeProcesses processes(transport);
        const auto has = [&](const Layout& layout) { return layout.has_rank(transport.rank()); };
        Transport& kind = see_all ? transport : static_cast<Transport&>(processes);
        Exchange exchange(pairs, 2, 64, kind);
        const auto rank = static_cast<std::size_t>(transport.rank());
        move(kind, exchange, has(source) && !before[rank].empty() ? &from[rank] : nullptr,
             has(target) && !after[rank].empty() ? &to[rank] : nullptr);
      });
      ASSERT_TRUE(after == expected) << (see_all ? "seen by all" : "by windows");
    }
  }
}

}  // namespace
