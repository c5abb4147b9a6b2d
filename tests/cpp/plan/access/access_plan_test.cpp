// Access plans divide the positions of a section among readers (shares), and each share over time (windows). Each
// position is in one share and one window. The owners of positions are compared with lists.
#include "plan/access/access_plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "oracle.hpp"
#include "plan/access/explain_access.hpp"
#include "plan/access/planner.hpp"
#include "plan/access/prediction.hpp"

namespace {

using oracle::expect_rejected;
using oracle::to_size_t;
using plait::Distribution;
using plait::Extents;
using plait::Layout;
using plait::Order;
using plait::Region;
using plait::plan::AccessOptions;
using plait::plan::AccessPlan;
using plait::plan::kDefaultMemory;
using plait::plan::kStorageUnit;
using plait::plan::PositionRange;
using plait::plan::Section;
using plait::plan::Strategy;

AccessPlan make_plan(const Extents& shape, const Layout& layout, std::int64_t element_bytes, std::int64_t offset,
                     std::int64_t workers, const AccessOptions& options = {}, bool apart = false, bool write = false,
                     const Region& region = {}, Order file_order = Order::kC) {
  return plan_access(Section(shape, file_order, region), layout, {element_bytes, offset, workers, apart, write},
                     options);
}

/// Returns the layout of one rank that has the whole array.
Layout whole(const Extents& shape) {
  return {shape, std::vector<Distribution>(shape.size(), Distribution::collapsed()), {}};
}

/// Checks that the shares partition the positions, and the windows of each share partition the share. Those of a
/// contiguous section must begin at storage units where the sizes of elements and windows permit it.
void check_ranges(const AccessPlan& plan, std::int64_t offset, std::int64_t memory) {
  const std::int64_t elements = plan.section().elements;
  std::int64_t next = 0;
  ASSERT_GE(plan.readers(), 1);
  ASSERT_LE(plan.readers(), plan.task().workers);
  std::int64_t max_windows = 0;
  for (std::int64_t reader = 0; reader < plan.task().workers; ++reader) {
    const PositionRange share = plan.share(reader);
    if (reader >= plan.readers()) {
      ASSERT_TRUE(share.empty());
      ASSERT_TRUE(plan.window(reader, 0).empty());
      continue;
    }
    ASSERT_EQ(share.begin, next);
    ASSERT_TRUE(!share.empty() || elements == 0);
    for (std::int64_t number = 0; number < plan.windows(); ++number) {
      const PositionRange window = plan.window(reader, number);
      ASSERT_LE(window.size(), plan.window_elements());
      if (window.empty()) continue;
      max_windows = std::max(max_windows, number + 1);
      ASSERT_EQ(window.begin, next);
      next = window.end;
      const std::int64_t byte = offset + (plan.section().origin + window.begin) * plan.element_bytes();
      const bool can_align = offset % std::gcd(kStorageUnit, plan.element_bytes()) == 0;
      const bool is_large = plan.window_elements() * plan.element_bytes() >= kStorageUnit * plan.element_bytes();
      if (plan.section().contiguous() && can_align && window.begin > 0 && (window.begin == share.begin || is_large)) {
        ASSERT_EQ(byte % kStorageUnit, 0) << "window at position " << window.begin;
      }
    }
    ASSERT_EQ(next, share.end);
    for (const std::int64_t position : {share.begin, share.begin + share.size() / 2, share.end - 1}) {
      if (!share.empty()) {
        ASSERT_EQ(plan.reader_at(position), reader);
      }
    }
  }
  ASSERT_EQ(next, elements);
  ASSERT_EQ(plan.windows(), max_windows);
  ASSERT_LE(plan.staging_bytes(), memory);
}

TEST(AccessPlan, SharesAndWindowsContainEachPositionOnce) {
  for (const std::int64_t element_bytes : {1, 2, 3, 8, 12, 100, 4096, 5000}) {
    for (const std::int64_t offset : {0, 128, 130, 4096}) {
      for (const std::int64_t elements : {0, 1, 7, 1000, 4097, 70'000, 1'000'003}) {
        for (const std::int64_t workers : {1, 3, 8}) {
          for (const std::int64_t memory : {0, 20'000, 3'000'000}) {
            for (const std::int64_t readers : {std::int64_t{0}, std::int64_t{1}, workers}) {
              for (const bool apart : {false, true}) {
                if (memory != 0 && elements * element_bytes / memory > 3000 / oracle::kThinning) continue;
                if (memory == 20'000 && element_bytes > 4096) continue;
                SCOPED_TRACE(testing::Message() << elements << " of " << element_bytes << " bytes at " << offset << ", "
                                                << workers << " workers, readers=" << readers << ", memory=" << memory);
                const AccessPlan plan = make_plan({elements}, whole({elements}), element_bytes, offset, workers,
                                                  {Strategy::kTwoPhase, memory, readers}, apart);
                check_ranges(plan, offset, memory == 0 ? kDefaultMemory : memory);
                if (testing::Test::HasFatalFailure()) return;
              }
            }
          }
        }
      }
    }
  }
}

TEST(AccessPlan, PositionsOfRegionsAreDividedToo) {
  // Contiguous rows from the middle of a file, and rows with gaps.
  for (const bool strided : {false, true}) {
    const Region region{{100, 300, strided ? 2 : 1, false}, {0, 1000, 1, false}};
    const AccessPlan plan = make_plan({900, 1000}, whole({300, 1000}), 8, 128, 4, {Strategy::kTwoPhase, 1 << 20, 0},
                                      /*apart=*/false, /*write=*/false, region);
    EXPECT_EQ(plan.section().contiguous(), !strided);
    EXPECT_EQ(plan.readers(), 4);
    check_ranges(plan, 128, 1 << 20);
  }
  const AccessPlan columns = make_plan({900, 1000}, whole({900, 5}), 8, 0, 2, {Strategy::kTwoPhase, 1 << 16, 0},
                                       /*apart=*/false, /*write=*/false, {{0, 900, 1, false}, {3, 5, 1, false}});
  check_ranges(columns, 0, 1 << 16);
}

/// Compares next_owned(), parts() and elements() of small sections and every rank with the element map.
void check_owners(const Extents& shape, const Layout& layout, Order file_order, const Region& region) {
  SCOPED_TRACE(oracle::describe(layout) + " in " + plait::shape_to_string(shape) + to_string(region));
  const AccessPlan plan = make_plan(shape, layout, 8, 0, 2, {}, /*apart=*/false, /*write=*/false, region, file_order);
  const Section& section = plan.section();
  const oracle::ArrayMap map = oracle::make_map(layout);
  Extents owners;         // the rank that has each position
  Extents local_offsets;  // the offset of each position in that rank's array
  oracle::for_each_index(section.shape, [&](const Extents& index) {
    Extents layout_index(layout.shape().size());
    for (std::size_t d = 0; d < index.size(); ++d)
      if (section.layout_dimension[d] >= 0) layout_index[to_size_t(section.layout_dimension[d])] = index[d];
    const oracle::Position& position =
        map.positions[to_size_t(oracle::dense_offset(layout_index, layout.shape(), Order::kC))];
    owners.push_back(position.rank);
    local_offsets.push_back(position.offset);
  });
  const auto total = static_cast<std::int64_t>(owners.size());
  ASSERT_EQ(total, section.elements);
  for (std::int64_t rank = 0; rank < layout.size(); ++rank) {
    const auto holdings = plan.owners().holdings(rank);
    if (holdings.empty()) {
      ASSERT_EQ(std::count(owners.begin(), owners.end(), rank), 0);
      continue;
    }
    ASSERT_EQ(holdings.size(), 1U);
    const auto& sets = holdings[0].sets;
    ASSERT_EQ(sets.size(), section.shape.size());
    std::int64_t next = total;
    for (std::int64_t position = total; position >= 0; --position) {
      if (position < total && owners[to_size_t(position)] == rank) next = position;
      ASSERT_EQ(plan.owners().next_owned(sets, position), next) << "rank " << rank << ", position " << position;
    }
    // The local array's strides lead to the position of each element.
    const Extents local_shape = layout.local_shape(rank);
    Extents strides(local_shape.size());
    for (std::size_t d = 0; d < strides.size(); ++d) {
      Extents unit_index(strides.size(), 0);
      unit_index[d] = 1;
      strides[d] = oracle::dense_offset(unit_index, local_shape, oracle::storage_order(layout));
    }
    const Extents local_strides = plan.owners().local_strides(strides);
    std::size_t position = 0;
    oracle::for_each_index(section.shape, [&](const Extents& index) {
      if (owners[position] == rank) {
        std::int64_t local_offset = 0;
        for (std::size_t d = 0; d < index.size(); ++d) local_offset += sets[d].count_below(index[d]) * local_strides[d];
        ASSERT_EQ(local_offset, local_offsets[position]);
      }
      ++position;
    });
  }
  for (std::int64_t begin = 0; begin <= total; ++begin) {
    for (std::int64_t end = begin; end <= total; ++end) {
      std::map<std::int64_t, std::int64_t> counts;
      for (std::int64_t position = begin; position < end; ++position) ++counts[owners[to_size_t(position)]];
      std::vector<plait::plan::RankPart> expected;
      for (const auto& [rank, elements] : counts) expected.push_back({rank, elements});
      ASSERT_EQ(plan.owners().parts({begin, end}), expected) << begin << ':' << end;
      for (std::int64_t rank = 0; rank < layout.size(); ++rank)
        ASSERT_EQ(plan.owners().elements(plan.owners().holdings(rank), {begin, end}), counts[rank])
            << begin << ':' << end;
    }
  }
  ASSERT_FALSE(explain(plan, "a.npy").empty());
}

TEST(AccessPlan, OwnersOfPositions) {
  const Extents shape{5, 4, 3};
  const Region middle{{1, 4, 1, false}, {1, 1, 1, true}, {0, 2, 2, false}};
  std::mt19937_64 random(9);
  for (std::int64_t n = 0; n < 320 / oracle::kThinning; ++n) {
    const Region region = n % 3 == 0 ? middle : Region{};
    const Extents accessed_shape = n % 3 == 0 ? Extents{4, 2} : shape;  // the region drops its single index
    std::vector<Distribution> distributions;
    Extents grid;
    for (const std::int64_t size : accessed_shape) {
      const auto extent = static_cast<std::int64_t>(1 + random() % 4);
      if (random() % 4 == 0) {
        distributions.push_back(Distribution::collapsed());
        continue;
      }
      const auto choices = oracle::distributions_for(size, extent, 3);
      distributions.push_back(choices[random() % choices.size()]);
      grid.push_back(extent);
    }
    const auto random_order = [&] { return random() % 2 == 0 ? Order::kC : Order::kFortran; };
    check_owners(shape, Layout(accessed_shape, distributions, grid, random_order(), random_order()), random_order(),
                 region);
    if (testing::Test::HasFatalFailure()) return;
  }
  check_owners({}, Layout(), Order::kC, {});
  check_owners({0, 3}, Layout::parse("0x3 (block, cyclic) onto (2, 2)"), Order::kC, {});
  check_owners({4}, Layout(), Order::kC, {{2, 1, 1, true}});
}

TEST(AccessPlan, ChoosesAndExplainsAStrategy) {
  const Layout rows = Layout::parse("1000x1000 (block, *) onto (4)");
  const Layout cyclic = Layout::parse("1000x1000 (cyclic, cyclic) onto (2, 2)");
  EXPECT_EQ(make_plan({1000, 1000}, cyclic, 8, 0, 4).strategy(), Strategy::kTwoPhase);
  EXPECT_EQ(make_plan({1000, 1000}, rows, 8, 0, 4).strategy(), Strategy::kDirect);
  EXPECT_EQ(requests(make_plan({1000, 1000}, rows, 8, 0, 4), Strategy::kDirect), 1);
  EXPECT_EQ(requests(make_plan({1000, 1000}, cyclic, 8, 0, 4), Strategy::kDirect), 250'000);
  for (const Strategy strategy : {Strategy::kDirect, Strategy::kTwoPhase}) {
    for (const bool write : {false, true}) {
      const AccessPlan plan = make_plan({1000, 1000}, cyclic, 8, 0, 4, {strategy, 0, 2}, /*apart=*/true, write);
      EXPECT_EQ(plan.strategy(), strategy);
      const std::string text = explain(plan, "field.npy");
      EXPECT_NE(text.find(to_string(strategy)), std::string::npos) << text;
      EXPECT_NE(text.find("field.npy"), std::string::npos) << text;
      EXPECT_NE(text.find(to_string(cyclic)), std::string::npos) << text;
      EXPECT_GT(predicted_seconds(plan, strategy), 0);
    }
  }
  const AccessPlan nothing = make_plan({0}, whole({0}), 8, 0, 3);
  EXPECT_EQ(nothing.windows(), 0);
  EXPECT_FALSE(explain(nothing, "empty").empty());
}

TEST(AccessPlan, WindowsDoNotExceedTheMemory) {
  for (std::int64_t memory = 40; memory < 100'000; memory = memory * 3 / 2) {
    for (const bool apart : {false, true}) {
      for (const Region& region : {Region{}, Region{{0, 50, 1, false}, {0, 40, 2, false}}}) {
        const Layout layout = whole(region.empty() ? Extents{100, 80} : Extents{50, 40});
        const AccessPlan plan =
            make_plan({100, 80}, layout, 8, 64, 2, {Strategy::kTwoPhase, memory, 0}, apart, /*write=*/false, region);
        EXPECT_LE(plan.staging_bytes(), memory);
        EXPECT_GT(plan.staging_bytes(), 0);
        check_ranges(plan, 64, memory);
      }
    }
  }
}

TEST(AccessPlan, ErrorsStateWhatIsWrong) {
  expect_rejected([] { make_plan({8, 4}, whole({8, 5}), 8, 0, 2); },
                  "the layout is of an array 8x5, but the accessed part");
  expect_rejected(
      [] {
        make_plan({8, 4}, whole({8, 4}), 8, 0, 2, {}, /*apart=*/false, /*write=*/false,
                  {{0, 8, 1, false}, {0, 1, 1, true}});
      },
      "but the region is 8");
  expect_rejected([] { make_plan({8}, whole({8}), 100, 0, 2, {Strategy::kTwoPhase, 150, 0}); },
                  "memory=150 is too little");
  expect_rejected([] { make_plan({8}, whole({8}), 8, 0, 2, {Strategy::kTwoPhase, -1, 0}); }, "memory=-1");
  expect_rejected([] { make_plan({8}, whole({8}), 8, 0, 2, {Strategy::kTwoPhase, 0, 3}); },
                  "readers=3, but there are 2 ranks or threads");
  expect_rejected([] { make_plan({8}, whole({8}), 8, 0, 2, {Strategy::kTwoPhase, 0, -1}); }, "readers=-1");
  const std::int64_t huge = std::int64_t{1} << 61;
  expect_rejected([&] { make_plan({huge}, whole({huge}), 8, 0, 2); }, "bytes of the array");
}

TEST(AccessPlan, SharesAndWindowsOfAMillionElements) {
  const AccessPlan plan = make_plan({1'000'000}, whole({1'000'000}), 8, 128, 3, {Strategy::kTwoPhase, 0, 3});
  const auto expect_range = [](const PositionRange& range, std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(range.begin, begin);
    EXPECT_EQ(range.end, end);
  };
  expect_range(plan.share(0), 0, 333'808);
  expect_range(plan.share(1), 333'808, 667'632);
  expect_range(plan.share(2), 667'632, 1'000'000);
  EXPECT_EQ(plan.window_elements(), 131'072);
  EXPECT_EQ(plan.windows(), 3);
  expect_range(plan.window(1, 0), 333'808, 464'880);
  expect_range(plan.window(1, 1), 464'880, 595'952);
  expect_range(plan.window(1, 2), 595'952, 667'632);
}

TEST(AccessPlan, HugeFilesAreDividedWithoutOverflow) {
  const std::int64_t elements = (std::int64_t{1} << 58) + 12'345;
  const AccessPlan plan = make_plan({elements}, whole({elements}), 8, 128, 1000, {Strategy::kTwoPhase, 0, 0});
  EXPECT_EQ(plan.readers(), 1000);
  std::int64_t next = 0;
  for (std::int64_t reader = 0; reader < plan.readers(); ++reader) {
    const PositionRange share = plan.share(reader);
    ASSERT_EQ(share.begin, next);
    next = share.end;
    ASSERT_EQ(plan.reader_at(share.end - 1), reader);
    ASSERT_EQ(plan.window(reader, 0).begin, share.begin);
    const std::int64_t last = (share.size() + 16) / plan.window_elements() - 1;  // 16 elements: the offset of 128 bytes
    ASSERT_EQ((128 + 8 * plan.window(reader, last).begin) % kStorageUnit, 0);
  }
  ASSERT_EQ(next, elements);
}

/// Returns the pages of component files that contain a range of a striped file's bytes, as (disk, page) pairs.
std::set<std::pair<std::int64_t, std::int64_t>> find_pages(std::int64_t begin, std::int64_t end, std::int64_t stripe,
                                                           std::int64_t disks) {
  std::set<std::pair<std::int64_t, std::int64_t>> result;
  while (begin < end) {
    const std::int64_t stripe_number = begin / stripe;
    const std::int64_t last = std::min(end, (stripe_number + 1) * stripe) - 1;
    // The offset of a byte in its component minus its offset in the file, for all bytes of this stripe.
    const std::int64_t shift = stripe_number / disks * stripe - stripe_number * stripe;
    for (std::int64_t page = (begin + shift) / 4096; page <= (last + shift) / 4096; ++page)
      result.insert({stripe_number % disks, page});
    begin = last + 1;
  }
  return result;
}

TEST(AccessPlan, NoTwoReadersShareAPageOfAComponent) {
  for (const std::int64_t stripe : {1000, 4096, 5000, 6144, 65536, 1 << 20, 3 << 20, 100 << 20})
    for (const std::int64_t disks : {1, 2, 3, 5})
      for (const std::int64_t element_bytes : {1, 8, 12, 1000})
        for (const std::int64_t offset : {std::int64_t{0}, 3 * element_bytes}) {
          const std::int64_t elements = 20'000'003 / element_bytes;
          AccessOptions options{Strategy::kTwoPhase, 0, 0};
          options.storage_unit = plait::plan::storage_unit(stripe, disks, element_bytes);
          const AccessPlan plan = make_plan({elements}, whole({elements}), element_bytes, offset, 7, options);
          SCOPED_TRACE(testing::Message() << "stripes of " << stripe << " bytes on " << disks << " disks, elements of "
                                          << element_bytes << " from " << offset << " on");
          std::set<std::pair<std::int64_t, std::int64_t>> seen;
          std::size_t page_count = 0;  // summed over the readers: equal to the number of pages if they share none
          std::int64_t next = 0;
          for (std::int64_t reader = 0; reader < plan.readers(); ++reader) {
            const PositionRange share = plan.share(reader);
            ASSERT_EQ(share.begin, next);
            next = share.end;
            const auto pages =
                find_pages(offset + share.begin * element_bytes, offset + share.end * element_bytes, stripe, disks);
            seen.insert(pages.begin(), pages.end());
            page_count += pages.size();
          }
          ASSERT_EQ(next, elements);
          ASSERT_EQ(page_count, seen.size());
          // Shares consist of whole pages or stripes; there may be fewer readers only if stripes are not whole pages.
          if (stripe % 4096 == 0) {
            ASSERT_GE(plan.readers(), 4);
          }
        }
}

TEST(AccessPlan, StripesOfAnySizeHaveAStorageUnit) {
  using plait::plan::storage_unit;
  EXPECT_EQ(storage_unit(65536, 3, 8), 65536);
  EXPECT_EQ(storage_unit(65536, 1, 8), kStorageUnit);
  EXPECT_EQ(storage_unit(1000, 3, 8), 3 * 125 * 4096);
  EXPECT_EQ(storage_unit(std::int64_t{1} << 40, 3, 8), kStorageUnit);
  EXPECT_EQ(storage_unit(INT64_MAX, 1000, 1), kStorageUnit);
  const std::int64_t elements = (std::int64_t{1} << 58) + 12'345;
  AccessOptions options{Strategy::kTwoPhase, 0, 0};
  options.storage_unit = storage_unit(999'999, 200, 8);
  const AccessPlan plan = make_plan({elements}, whole({elements}), 8, 128, 1000, options);
  EXPECT_EQ((128 + 8 * plan.share(1).begin) % options.storage_unit, 0);
  EXPECT_EQ((128 + 8 * plan.share(999).begin) % options.storage_unit, 0);
}

}  // namespace
