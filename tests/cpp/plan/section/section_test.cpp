// A section describes a region of an array in file order. Its positions, boxes and contiguous runs are compared with
// lists of file positions.
#include "plan/section/section.hpp"

#include <gtest/gtest.h>

#include "oracle.hpp"

namespace {

using oracle::expect_rejected;
using oracle::to_size_t;
using plait::Extents;
using plait::Order;
using plait::Region;
using plait::Slice;
using plait::plan::Box;
using plait::plan::cut_boxes;
using plait::plan::FileRun;
using plait::plan::for_each_file_run;
using plait::plan::Section;

/// A region element by element.
struct RegionListing {
  Extents layout_shape;    // without single indices
  Extents file_positions;  // of each element, in C order of the layout's index
};

RegionListing list_section(const Extents& shape, Order order, const Region& region) {
  Region slices = region;
  if (slices.empty())
    for (const std::int64_t size : shape) slices.push_back({0, size, 1, false});
  Extents counts;
  RegionListing result;
  for (const Slice& slice : slices) {
    counts.push_back(slice.count);
    if (!slice.single) result.layout_shape.push_back(slice.count);
  }
  oracle::for_each_index(counts, [&](const Extents& index) {
    Extents position(index.size());
    for (std::size_t d = 0; d < index.size(); ++d) position[d] = slices[d].start + index[d] * slices[d].stride;
    result.file_positions.push_back(oracle::dense_offset(position, shape, order));
  });
  return result;
}

void check(const Extents& shape, Order order, const Region& region) {
  SCOPED_TRACE(testing::Message() << plait::shape_to_string(shape) << (order == Order::kC ? " C " : " F ")
                                  << to_string(region));
  const Section section(shape, order, region);
  const RegionListing expected = list_section(shape, order, region);
  ASSERT_EQ(section.layout_shape, expected.layout_shape);
  ASSERT_EQ(section.elements, static_cast<std::int64_t>(expected.file_positions.size()));
  // Section positions enumerate the same elements in file order.
  Extents ascending = expected.file_positions;
  std::sort(ascending.begin(), ascending.end());
  std::size_t position = 0;
  oracle::for_each_index(section.shape, [&](const Extents& index) {
    std::int64_t file = section.origin;
    Extents layout_index(section.layout_shape.size());
    for (std::size_t d = 0; d < index.size(); ++d) {
      file += index[d] * section.strides[d];
      const int dimension = section.layout_dimension[d];
      if (dimension >= 0) layout_index[to_size_t(dimension)] = index[d];
    }
    ASSERT_EQ(file, ascending[position]);
    ASSERT_EQ(file,
              expected.file_positions[to_size_t(oracle::dense_offset(layout_index, section.layout_shape, Order::kC))]);
    ++position;
  });
  ASSERT_EQ(position, ascending.size());
  const bool has_no_gaps = ascending.empty() || ascending.back() - ascending.front() + 1 == section.elements;
  if (!ascending.empty()) {
    ASSERT_EQ(section.contiguous(), has_no_gaps);
  }

  // Every range of positions is divided into contiguous runs of the file.
  for (std::int64_t begin = 0; begin <= section.elements; ++begin) {
    for (std::int64_t end = begin; end <= section.elements; end += 1 + section.elements / 8) {
      std::int64_t next = begin;
      for_each_file_run(section, begin, end, [&](const FileRun& run) {
        ASSERT_EQ(run.position, next);
        ASSERT_GT(run.elements, 0);
        for (std::int64_t i = 0; i < run.elements; ++i) ASSERT_EQ(run.file + i, ascending[to_size_t(run.position + i)]);
        next += run.elements;
      });
      ASSERT_EQ(next, end);
    }
  }
}

TEST(Section, RegionsOfSmallArrays) {
  for (const Order order : {Order::kC, Order::kFortran}) {
    check({}, order, {});
    check({5}, order, {});
    check({0}, order, {});
    check({3, 0, 2}, order, {});
    check({4, 3, 2}, order, {});
    std::int64_t count = 0;
    const auto make_slices = [](std::int64_t size) {
      std::vector<Slice> slices{{0, size, 1, false}, {0, 0, 1, false}, {size, 0, 1, false}, {size - 1, 1, 1, true}};
      for (std::int64_t start = 0; start < size; start += 2)
        for (std::int64_t stride = 1; stride <= 3; ++stride)
          for (std::int64_t n = 1; start + (n - 1) * stride < size; n += 2) slices.push_back({start, n, stride, false});
      slices.push_back({0, 1, 1, true});
      return slices;
    };
    for (const Slice& a : make_slices(5))
      for (const Slice& b : make_slices(4)) {
        check({5, 4}, order, {a, b});
        for (const Slice& c : make_slices(3)) {
          if (++count % (2 * oracle::kThinning) != 0) continue;
          check({5, 4, 3}, order, {a, b, c});
          if (testing::Test::HasFatalFailure()) return;
        }
      }
  }
}

TEST(Section, BoxesOfEveryRange) {
  for (const Extents& shape : {Extents{}, Extents{7}, Extents{3, 4}, Extents{1, 5}, Extents{5, 1}, Extents{3, 2, 4},
                               Extents{2, 1, 3, 2}, Extents{2, 2, 2, 2}, Extents{0, 3}}) {
    std::vector<Extents> all;
    oracle::for_each_index(shape, [&](const Extents& index) { all.push_back(index); });
    const auto total = static_cast<std::int64_t>(all.size());
    for (std::int64_t begin = 0; begin <= total; ++begin) {
      for (std::int64_t end = begin; end <= total; ++end) {
        const std::vector<Box> boxes = cut_boxes(shape, begin, end);
        ASSERT_LE(boxes.size(), std::max<std::size_t>(2 * shape.size(), 2) - 1);
        std::int64_t next = begin;
        for (const Box& box : boxes) {
          ASSERT_EQ(box.position, next - begin);
          Extents sides(shape.size());
          for (std::size_t d = 0; d < shape.size(); ++d) sides[d] = box.hi[d] - box.lo[d];
          oracle::for_each_index(sides, [&](const Extents& index) {
            Extents shifted = index;
            for (std::size_t d = 0; d < shape.size(); ++d) shifted[d] += box.lo[d];
            ASSERT_EQ(shifted, all[to_size_t(next)]);
            ++next;
          });
        }
        ASSERT_EQ(next, end);
      }
    }
  }
}

TEST(Section, ErrorsStateWhatIsWrong) {
  const auto expect_error = [](const Region& region, const std::string& part) {
    expect_rejected([&] { Section({10, 6}, Order::kC, region); }, part);
  };
  expect_error({{0, 10, 1, false}}, "the region [0:10] has 1 dimensions, but the array 10x6 has 2");
  expect_error({{0, 11, 1, false}, {0, 6, 1, false}},
               "region, dimension 0: start 0, count 11, stride 1, but the dimension has 10");
  expect_error({{0, 10, 1, false}, {0, 3, 3, false}}, "dimension 1: start 0, count 3, stride 3");
  expect_error({{0, 10, 1, false}, {6, 1, 1, true}}, "dimension 1: start 6, count 1");
  expect_error({{0, 10, 0, false}, {0, 6, 1, false}}, "the stride is 0");
  expect_error({{-1, 2, 1, false}, {0, 6, 1, false}}, "start -1, count 2");
  expect_error({{0, -2, 1, false}, {0, 6, 1, false}}, "start 0, count -2");
  expect_error({{0, 2, 1, true}, {0, 6, 1, false}}, "a single index with a count other than 1");
  expect_error({{0, INT64_MAX, INT64_MAX, false}, {0, 6, 1, false}}, "dimension 0");
}

TEST(Section, HugeNumbersDoNotOverflow) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  // The stride of a slice with one element may be of any size, as in a[0:1:10**18]; so may the start of an empty slice.
  const Section single({10, 6}, Order::kC, {{3, 1, INT64_MAX, false}, {0, 6, 1, false}});
  EXPECT_EQ(single.origin, 18);
  EXPECT_EQ(single.elements, 6);
  EXPECT_TRUE(single.contiguous());
  const Section none({10, 6}, Order::kC, {{kHuge, 0, 1, false}, {kHuge, 0, kHuge, false}});
  EXPECT_EQ(none.elements, 0);
  // An empty array with dimensions whose product would exceed 2^63.
  const Section empty({0, kHuge, kHuge}, Order::kC, {});
  EXPECT_EQ(empty.elements, 0);
  EXPECT_TRUE(cut_boxes(empty.shape, 0, 0).empty());
  const Section large({kHuge / 4, 2}, Order::kC, {{1, kHuge / 4 - 1, 1, false}, {1, 1, 1, true}});
  EXPECT_EQ(large.elements, kHuge / 4 - 1);
  EXPECT_EQ(large.origin, 3);
  const std::vector<Box> boxes = cut_boxes({kHuge / 4, 2}, 1, kHuge / 2 - 1);
  ASSERT_EQ(boxes.size(), 3U);
  EXPECT_EQ(boxes[1].hi[0], kHuge / 4 - 1);
  expect_rejected([&] { Section({kHuge, 2}, Order::kC, {}); }, "2^63");
}

TEST(Section, PrintsRegions) {
  EXPECT_EQ(plait::to_string(Region{}), "[whole]");
  EXPECT_EQ(plait::to_string(Region{{0, 10, 1, false}, {5, 5, 3, false}, {7, 1, 1, true}}), "[0:10, 5:18:3, 7]");
  EXPECT_EQ(plait::to_string(Region{{4, 0, 2, false}}), "[4:4:2]");
}

}  // namespace
