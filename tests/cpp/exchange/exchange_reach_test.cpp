// Which memory of other workers a redistribution can access (its reach): all, that of sources or targets, or none. Also
// redistributions of sections, and between layouts of different numbers of ranks.
#include "exchange_case.hpp"

namespace {

using namespace redistribute_case;

/// The array of a worker, in memory that the node shares or in private memory.
struct WorkerArray {
  WorkerArray(Transport& transport, bool shared, const Bytes& content) {
    if (shared) part = transport.share(static_cast<std::int64_t>(content.size()));
    private_bytes = content;
    if (shared) std::copy(content.begin(), content.end(), part->data());
  }
  std::byte* data() { return part ? part->data() : private_bytes.data(); }
  std::unique_ptr<plait::transport::SharedPart> part;
  Bytes private_bytes;
};

TEST(Redistribute, DetectsWhichArraysAreShared) {
  Random random(8);
  for (int i = 0; i < (oracle::kSanitized ? 60 : 600); ++i) {
    const int workers = static_cast<int>(pick(random, 1, 6));
    const Extents& shape = pick(random, kShapes);
    const Layout source = access_case::random_layout(random, shape, workers);
    const Layout target = access_case::random_layout(random, shape, workers);
    const bool share_sources = pick(random, 0, 1) == 0;
    const bool share_targets = pick(random, 0, 1) == 0;
    SCOPED_TRACE(describe(source, target, 8, i));
    const std::vector<Bytes> before = make_arrays(source, 8);
    const std::vector<Bytes> expected = make_arrays(target, 8);
    std::vector<Bytes> after = untouched_like(expected);
    run_team(workers, [&](Transport& transport) {
      wrapped::LikeProcesses processes(transport);
      const auto rank = static_cast<std::size_t>(transport.rank());
      WorkerArray from(processes, share_sources, before[rank]);
      WorkerArray to(processes, share_targets, after[rank]);
      const auto view = [&](const Layout& layout, WorkerArray& arrays) {
        return LocalArray{
            transport.rank(), arrays.data(),
            access_case::dense_byte_strides(layout.local_shape(transport.rank()), oracle::storage_order(layout), 8)};
      };
      const LocalArray local = view(source, from);
      const LocalArray target_array = view(target, to);
      Exchange exchange(whole_arrays(source, target), 8, 1 << 20, processes);
      for (int run = 0; run < 2; ++run) {
        std::fill_n(to.data(), after[rank].size(), kUntouched);
        run_exchange(processes, exchange, before[rank].empty() ? nullptr : &local,
                     after[rank].empty() ? nullptr : &target_array);
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

/// The first run of private arrays uses windows, and tests if system calls can read the memory of other workers. Later
/// runs use the faster method.
TEST(Redistribute, ReadsFromProcessToProcess) {
  plait::exchange::min_pulled = 0;  // small arrays are read by system calls, too
  Random random(14);
  int by_system_calls = 0;
  int by_windows = 0;
  for (int i = 0; i < (oracle::kSanitized ? 60 : 150); ++i) {
    const int workers = static_cast<int>(pick(random, 2, 5));
    // Rows of short runs, rows of long runs, and other shapes.
    const Extents shape = i % 3 == 0 ? Extents{40, 600} : i % 3 == 1 ? Extents{9, 4, 300} : pick(random, kShapes);
    const Layout source = access_case::random_layout(random, shape, workers);
    const Layout target = access_case::random_layout(random, shape, workers);
    SCOPED_TRACE(describe(source, target, 8, i));
    const std::vector<Bytes> before = make_arrays(source, 8);
    const std::vector<Bytes> expected = make_arrays(target, 8);
    std::vector<Bytes> after = untouched_like(expected);
    const auto from = access_case::arrays_over(source, const_cast<std::vector<Bytes>&>(before), 8);
    const auto to = access_case::arrays_over(target, after, 8);
    run_team(workers, [&](Transport& transport) {
      wrapped::LikeProcesses processes(transport);
      const auto rank = static_cast<std::size_t>(transport.rank());
      Exchange exchange(whole_arrays(source, target), 8, i % 2 == 0 ? 1 << 20 : 24 << 10, processes);
      for (int run = 0; run < 3; ++run) {
        std::fill(after[rank].begin(), after[rank].end(), kUntouched);
        run_exchange(processes, exchange, before[rank].empty() ? nullptr : &from[rank],
                     after[rank].empty() ? nullptr : &to[rank]);
        EXPECT_TRUE(after[rank] == expected[rank]) << "in run " << run;
        if (source.elements() == 0) continue;
        if (run == 0) {
          EXPECT_EQ(*exchange.reach(), Reach::kNeither);
        }
        if (rank == 0 && run == 2) ++(*exchange.reach() == Reach::kSystem ? by_system_calls : by_windows);
      }
    });
    ASSERT_TRUE(after == expected);
  }
  plait::exchange::min_pulled = std::int64_t{256} << 10;
  EXPECT_GT(by_system_calls, 10);
  EXPECT_GT(by_windows, 10);
}

TEST(Redistribute, CopiesSectionsBetweenDifferentNumbersOfRanks) {
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
    const Layout source = access_case::random_layout(random, from_shape, pick(random, 1, 5));
    const Layout target = access_case::random_layout(random, to_shape, pick(random, 1, 5));
    SCOPED_TRACE(describe(source, target, 2, i));
    const Pairs pairs(source, target, /*fill_halo=*/false, section);
    std::vector<Bytes> before = make_arrays(source, 2);
    std::vector<Bytes> after = untouched_like(make_arrays(target, 2));
    std::vector<Bytes> expected = after;
    const oracle::ArrayMap from_map = oracle::make_map(source);
    const oracle::ArrayMap to_map = oracle::make_map(target);
    oracle::for_each_index(section.shape, [&](const Extents& index) {
      Extents source_index = index;
      Extents target_index = index;
      for (std::size_t d = 0; d < index.size(); ++d) {
        source_index[d] += section.source_origin[d];
        target_index[d] += section.target_origin[d];
      }
      const oracle::Position from =
          from_map.positions[to_size_t(oracle::dense_offset(source_index, from_shape, Order::kC))];
      const oracle::Position to = to_map.positions[to_size_t(oracle::dense_offset(target_index, to_shape, Order::kC))];
      for (std::int64_t byte = 0; byte < 2; ++byte)
        expected[to_size_t(to.rank)][to_size_t(to.offset * 2 + byte)] =
            before[to_size_t(from.rank)][to_size_t(from.offset * 2 + byte)];
    });
    const auto from = access_case::arrays_over(source, before, 2);
    const auto to = access_case::arrays_over(target, after, 2);
    plait::exchange::gather_all(pairs, from, to, 2, 2);
    ASSERT_TRUE(after == expected) << "in one process";
    for (const bool see_all : {true, false}) {
      for (Bytes& array : after) std::fill(array.begin(), array.end(), kUntouched);
      run_team(static_cast<int>(std::max(source.size(), target.size())), [&](Transport& transport) {
        wrapped::LikeProcesses processes(transport);
        const auto has = [&](const Layout& layout) { return layout.has_rank(transport.rank()); };
        Transport& used_transport = see_all ? transport : static_cast<Transport&>(processes);
        Exchange exchange(pairs, 2, 64, used_transport);
        const auto rank = static_cast<std::size_t>(transport.rank());
        run_exchange(used_transport, exchange, has(source) && !before[rank].empty() ? &from[rank] : nullptr,
                     has(target) && !after[rank].empty() ? &to[rank] : nullptr);
      });
      ASSERT_TRUE(after == expected) << (see_all ? "seen by all" : "by windows");
    }
  }
}

}  // namespace
