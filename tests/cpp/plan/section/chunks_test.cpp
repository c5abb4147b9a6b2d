// Arrays in chunks: sections, shares and windows, compared with lists of elements.
#include "plan/section/chunks.hpp"

#include <gtest/gtest.h>

#include <map>

#include "chunk_case.hpp"
#include "plan/access/explain_access.hpp"
#include "plan/access/planner.hpp"

namespace {

using access_case::pick;
using access_case::Random;
using oracle::expect_rejected;
using oracle::to_size_t;
using plait::Extents;
using plait::IndexSet;
using plait::Order;
using plait::Region;
using plait::plan::AccessOptions;
using plait::plan::AccessPlan;
using plait::plan::Box;
using plait::plan::Chunks;
using plait::plan::FileRun;
using plait::plan::PositionRange;
using plait::plan::RankElements;
using plait::plan::Section;
using plait::plan::Strategy;

/// The elements of a section in file order: the position in the file of each, and its index in the section, with the
/// slowest dimension of the file first.
using Elements = std::map<std::int64_t, Extents>;

Elements list_elements(const access_case::Case& access, const Extents& chunk, const Extents& shard) {
  Region region = access.region;
  if (region.empty())
    for (const std::int64_t size : access.file_shape) region.push_back({0, size, 1, false});
  Extents counts;
  for (const plait::Slice& slice : region) counts.push_back(slice.count);
  Elements result;
  oracle::for_each_index(counts, [&](const Extents& index) {
    Extents in_array;
    for (std::size_t d = 0; d < index.size(); ++d) in_array.push_back(region[d].start + index[d] * region[d].stride);
    Extents slowest_first = index;
    if (access.file_order == Order::kFortran) std::reverse(slowest_first.begin(), slowest_first.end());
    const std::int64_t file =
        shard.empty()
            ? chunk_case::file_position(in_array, access.file_shape, chunk, access.file_order)
            : chunk_case::file_position_in_shards(in_array, access.file_shape, chunk, shard, access.file_order);
    result[file] = slowest_first;
  });
  return result;
}

/// Checks that ranges of positions are divided into boxes, and into runs of the file, that contain each element once.
void check_section(const Section& section, const Elements& elements) {
  std::vector<std::int64_t> file_positions;
  std::vector<Extents> indices;
  for (const auto& [file, index] : elements) {
    file_positions.push_back(file);
    indices.push_back(index);
    ASSERT_EQ(section.file_position(index), file);
  }
  const auto total = static_cast<std::int64_t>(file_positions.size());
  ASSERT_EQ(section.elements, total);
  for (std::int64_t begin = 0; begin <= total; begin += 1 + total / 7) {
    for (std::int64_t end = begin; end <= total; end += 1 + total / 5) {
      std::int64_t next = begin;
      for_each_file_run(section, begin, end, [&](const FileRun& run) {
        ASSERT_EQ(run.position, next);
        for (std::int64_t i = 0; i < run.elements; ++i)
          ASSERT_EQ(run.file + i, file_positions[to_size_t(run.position + i)]);
        next += run.elements;
      });
      ASSERT_EQ(next, end);
      std::int64_t seen = 0;
      for (const Box& box : section.boxes(begin, end)) {
        Extents shape;
        for (std::size_t d = 0; d < box.lo.size(); ++d) shape.push_back(box.hi[d] - box.lo[d]);
        oracle::for_each_index(shape, [&](const Extents& index) {
          std::int64_t position = begin + box.position;
          Extents box_index = box.lo;
          for (std::size_t d = 0; d < index.size(); ++d) {
            position += index[d] * box.strides[d];
            box_index[d] += index[d];
          }
          ASSERT_EQ(indices[to_size_t(position)], box_index);
          ++seen;
        });
      }
      ASSERT_EQ(seen, end - begin);
    }
  }
}

/// Checks that shares and windows consist of whole chunks and contain each position once. Only chunks that are larger
/// than a window are divided.
void check_shares(const AccessPlan& plan) {
  const Chunks& chunks = *plan.section().chunks;
  std::int64_t next = 0;
  for (std::int64_t reader = 0; reader < plan.task().workers; ++reader) {
    const PositionRange share = plan.share(reader);
    ASSERT_EQ(share.begin, next);
    ASSERT_EQ(chunks.first_position(chunks.number_at(share.begin)), share.begin);
    ASSERT_EQ(share.empty(), reader >= plan.readers() || plan.section().elements == 0);
    bool ended = false;
    for (std::int64_t number = 0; number < plan.windows(); ++number) {
      const PositionRange window = plan.window(reader, number);
      ASSERT_LE(window.size(), plan.window_elements());
      ASSERT_FALSE(ended && !window.empty()) << "a window follows an empty one";
      ended = window.empty();
      if (ended) continue;
      ASSERT_EQ(window.begin, next);
      next = window.end;
      if (plan.window_elements() >= chunks.largest()) {
        ASSERT_EQ(chunks.first_position(chunks.number_at(window.begin)), window.begin);
        ASSERT_EQ(chunks.first_position(chunks.number_at(window.end)), window.end);
      }
      for (std::int64_t position = window.begin; position < window.end; ++position)
        ASSERT_EQ(plan.reader_at(position), reader);
    }
    ASSERT_EQ(next, share.end);
  }
  ASSERT_EQ(next, plan.section().elements);
}

/// Checks that all elements of a shard belong to one reader's share.
void check_shards(const AccessPlan& plan, const Elements& elements, std::int64_t shard_elements) {
  std::map<std::int64_t, std::int64_t> readers;
  std::int64_t position = 0;
  for (const auto& element : elements) {
    const std::int64_t reader = plan.reader_at(position++);
    ASSERT_EQ(readers.emplace(element.first / shard_elements, reader).first->second, reader);
  }
  const Chunks& chunks = *plan.section().chunks;
  ASSERT_EQ(static_cast<std::int64_t>(readers.size()), chunks.shards());
  for (std::int64_t shard = 0; shard < chunks.shards(); ++shard) {
    ASSERT_EQ(chunks.find_shard(chunks.first_in_shard(shard)), shard);
    if (shard > 0) {
      ASSERT_EQ(chunks.find_shard(chunks.first_in_shard(shard) - 1), shard - 1);
    }
  }
  ASSERT_EQ(chunks.first_in_shard(chunks.shards()), chunks.count());
}

/// Checks next_owned() and parts() for every position and rank.
void check_owners(const AccessPlan& plan, const Elements& elements) {
  for (std::int64_t rank = 0; rank < plan.layout().size(); ++rank) {
    for (const RankElements& elements_of_rank : plan.owners().holdings(rank)) {
      std::int64_t next_owned = plan.section().elements;
      std::int64_t position = plan.section().elements;
      for (auto element = elements.rbegin(); element != elements.rend(); ++element) {
        bool is_owned = true;
        for (std::size_t d = 0; d < elements_of_rank.sets.size(); ++d)
          is_owned = is_owned && elements_of_rank.sets[d].contains(element->second[d]);
        if (is_owned) next_owned = position - 1;
        ASSERT_EQ(plan.owners().next_owned(elements_of_rank.sets, --position), next_owned)
            << "rank " << rank << ", position " << position;
        if (is_owned) {
          const auto parts = plan.owners().parts({position, position + 1});
          ASSERT_EQ(parts, (std::vector<plait::plan::RankPart>{{rank, 1}}));
        }
      }
    }
  }
}

TEST(Chunks, PositionsSharesAndWindowsFollowChunks) {
  Random random(5);
  for (int i = 0; i < 1500 / oracle::kThinning; ++i) {
    const access_case::Case access = access_case::random_case(random, pick(random, 1, 4), {1, 8, 5000});
    if (access.file_shape.empty()) continue;
    const Extents chunk = chunk_case::random_chunk(random, access.file_shape);
    Extents shard;
    if (i % 2 == 1)
      for (const std::int64_t size : chunk) shard.push_back(size * pick(random, 1, 3));
    AccessOptions options;
    options.readers = pick(random, 0, 4);
    options.memory_bytes = pick(random, std::vector<std::int64_t>{0, 5, 9, 24, 64}) * access.element_bytes;
    SCOPED_TRACE(testing::Message() << access_case::describe(access) << " in chunks of "
                                    << plait::shape_to_string(chunk) << ", shards " << plait::shape_to_string(shard)
                                    << ", readers " << options.readers << ", memory " << options.memory_bytes);
    const Elements elements = list_elements(access, chunk, shard);
    const AccessPlan plan =
        plan_access(Section(access.file_shape, access.file_order, access.region, chunk, shard), access.layout,
                    {access.element_bytes, access.offset, 4, /*nodes_apart=*/false, /*write=*/true}, options);
    ASSERT_EQ(plan.strategy(), Strategy::kTwoPhase);
    ASSERT_NO_FATAL_FAILURE(check_section(plan.section(), elements));
    ASSERT_NO_FATAL_FAILURE(check_shares(plan));
    ASSERT_NO_FATAL_FAILURE(check_owners(plan, elements));
    if (!shard.empty()) {
      ASSERT_NO_FATAL_FAILURE(check_shards(plan, elements, chunk_case::product(shard)));
    }
  }
}

/// Only processes that write need a whole shard each; threads that write, and all readers, may share one.
TEST(Chunks, ThreadsOfAProcessAndReadersShareShards) {
  const Section section({64, 64}, Order::kC, {}, {4, 4}, {32, 64});
  const plait::Layout layout({64, 64}, {plait::Distribution::collapsed(), plait::Distribution::collapsed()}, {});
  AccessOptions options;
  options.readers = 4;
  EXPECT_EQ(plan_access(section, layout, {8, 0, 4, /*nodes_apart=*/false, /*write=*/true}, options).readers(), 2);
  EXPECT_EQ(plan_access(section, layout, {8, 0, 4, /*nodes_apart=*/false, /*write=*/false}, options).readers(), 4);
  EXPECT_EQ(
      plan_access(section, layout, {8, 0, 4, /*nodes_apart=*/false, /*write=*/true, nullptr, /*threads=*/true}, options)
          .readers(),
      4);
}

TEST(Chunks, OfARegionHavePartsAndPositions) {
  const Chunks chunks({5, 6}, {2, 4}, {{1, 0}, {1, 1}, {3, 6}});
  ASSERT_EQ(chunks.count(), 4);
  const std::vector<Extents> shapes{{1, 4}, {1, 2}, {2, 4}, {2, 2}};
  const Extents positions{0, 4, 6, 14};
  const Extents file_positions{4, 12, 16, 24};
  for (std::size_t number = 0; number < shapes.size(); ++number) {
    const auto part = chunks.part(static_cast<std::int64_t>(number));
    EXPECT_EQ(part.shape, shapes[number]) << number;
    EXPECT_EQ(part.position, positions[number]) << number;
    EXPECT_EQ(part.file, file_positions[number]) << number;
  }
  EXPECT_EQ(chunks.number_at(13), 2);
  EXPECT_EQ(chunks.number_at(14), 3);
}

TEST(Chunks, TheirNumberMayBeHuge) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 30;
  const Section section({kLarge, kLarge}, Order::kC, {}, {1, 3});
  EXPECT_EQ(section.chunks->count(), kLarge * ((kLarge + 2) / 3));
  const std::int64_t last = section.chunks->count() - 1;
  EXPECT_EQ(section.chunks->part(last).elements, kLarge % 3);
  EXPECT_EQ(section.chunks->number_at(section.elements - 1), last);
  EXPECT_EQ(section.chunks->first_position(last), section.elements - kLarge % 3);
}

TEST(Chunks, MayBeLargerThanAWindowIfMemoryAllowsIt) {
  const Section section({4096, 4096}, Order::kC, {}, {1024, 1024});
  const plait::Layout layout({4096, 4096}, {plait::Distribution::collapsed(), plait::Distribution::collapsed()}, {});
  const AccessPlan large = plan_access(section, layout, {8, 0, 3, /*nodes_apart=*/false, /*write=*/true}, {});
  EXPECT_EQ(large.window_elements(), 1024 * 1024);
  EXPECT_EQ(large.windows(), 6);  // 16 chunks for 3 readers
  EXPECT_NE(explain(large, "a").find("16 of 8 MiB, each touched by one rank"), std::string::npos)
      << explain(large, "a");
  AccessOptions small_memory;
  small_memory.memory_bytes = 1 << 20;
  const AccessPlan divided =
      plan_access(section, layout, {8, 0, 3, /*nodes_apart=*/false, /*write=*/true}, small_memory);
  EXPECT_EQ(divided.window_elements(), 1 << 16);
  EXPECT_EQ(divided.share(0).size(), 6 * 1024 * 1024);
}

TEST(Chunks, InvalidChunksAreErrors) {
  for (const Extents& chunk : {Extents{4}, Extents{4, 0}, Extents{4, -1}, Extents{1, 1, 1}})
    expect_rejected([&] { Section({10, 6}, Order::kC, {}, chunk); }, "cannot lie in chunks of");
  AccessOptions direct;
  direct.strategy = Strategy::kDirect;
  const Section section({4}, Order::kC, {}, {3});
  const plait::Layout layout({4}, {plait::Distribution::collapsed()}, {});
  expect_rejected([&] { plan_access(section, layout, {8, 0, 1, /*nodes_apart=*/false, /*write=*/false}, direct); },
                  "the array lies in chunks");
}

}  // namespace
