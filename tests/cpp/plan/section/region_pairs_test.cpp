// Transfers of a region of one array into a separate array, executed and compared element by element.
#include "plan/section/region_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "exchange/message.hpp"
#include "plait/error.hpp"
#include "plait/layout.hpp"
#include "plan/conversion/partners.hpp"

namespace plait::plan {
namespace {

/// Calls visit(index) for all indices of a shape, in C order.
template <typename Visit>
void for_each_index(const Extents& shape, Visit&& visit) {
  if (std::ranges::find(shape, 0) != shape.end()) return;
  Extents index(shape.size(), 0);
  while (true) {
    visit(index);
    std::size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

/// Returns the number of an index in C order.
std::int64_t linear_index(const Extents& index, const Extents& shape) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) number = number * shape[d] + index[d];
  return number;
}

struct LocalPart {
  std::vector<std::int64_t> elements;
  copy::LocalArray array;  // describes `elements`
};

/// Returns the array of a rank, with its halo, filled with -1.
LocalPart make_local(const Layout& layout, std::int64_t rank) {
  const Extents shape = layout.padded_shape(rank);
  LocalPart local;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  local.elements.assign(static_cast<std::size_t>(count), -1);
  Extents strides = dense_strides(shape, layout.order());
  for (std::int64_t& stride : strides) stride *= 8;
  local.array = {rank, reinterpret_cast<std::byte*>(local.elements.data()), strides};
  return local;
}

/// Returns a reference to the element at a position in the array without its halo.
std::int64_t& element(LocalPart& local, const Layout& layout, const Extents& position) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < position.size(); ++d)
    offset += (position[d] + layout.halo(static_cast<int>(d)).lo) * local.array.strides[d] / 8;
  return local.elements[static_cast<std::size_t>(offset)];
}

/// Checks that the messages of RegionPairs copy each element of the region once, to its position in the target.
void check(const Layout& source, const Layout& target, const Region& region) {
  SCOPED_TRACE(to_string(source) + " -> " + to_string(target) + " " + to_string(region));
  std::map<std::int64_t, LocalPart> sources;
  for (const std::int64_t rank : source.rank_numbers()) {
    LocalPart& local = sources[rank] = make_local(source, rank);
    for_each_index(source.local_shape(rank), [&](const Extents& position) {
      element(local, source, position) = linear_index(source.to_global(position, rank), source.shape());
    });
  }
  const RegionPairs pairs(source, target, region, /*fill_halo=*/false);
  for (const std::int64_t rank : target.rank_numbers()) {
    LocalPart local = make_local(target, rank);
    const copy::LocalArray to{rank, local.array.data, pairs.with_dropped(local.array.strides, 0)};
    std::int64_t received = 0;
    for (const std::int64_t sender : pairs.senders(rank)) {
      const exchange::PackedMessage message(pairs.products(sender, rank), pairs.target_order(), 8);
      std::vector<std::int64_t> packed(static_cast<std::size_t>(message.elements()));
      auto* bytes = reinterpret_cast<std::byte*>(packed.data());
      message.pack(0, message.elements(), sources.at(sender).array, bytes);
      message.unpack(0, message.elements(), bytes, to);
      received += message.elements();
    }
    EXPECT_EQ(received, target.local_elements(rank));
    for_each_index(target.local_shape(rank), [&](const Extents& position) {
      const Extents index = target.to_global(position, rank);
      Extents source_index;
      std::size_t next = 0;
      for (const Slice& slice : region)
        source_index.push_back(slice.start + (slice.single ? 0 : index[next++] * slice.stride));
      EXPECT_EQ(element(local, target, position), linear_index(source_index, source.shape()));
    });
  }
}

class RandomCases {
 public:
  explicit RandomCases(unsigned seed) : random_(seed) {}
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  Layout layout(const Extents& shape) {
    std::string dist;
    std::string grid;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const char* const kinds[] = {"*", "block", "cyclic", "cyclic(2)", "balanced"};
      const std::string kind = kinds[number(0, 4)];
      dist += (d == 0 ? "" : ", ") + kind;
      if (kind != "*") grid += (grid.empty() ? "" : ", ") + std::to_string(number(1, 4));
    }
    return Layout::parse("(" + dist + ") onto (" + grid + ") order=" + (number(0, 1) == 0 ? "C" : "F"), shape);
  }
  Slice slice(std::int64_t size) {
    if (size > 0 && number(0, 3) == 0) return {number(0, size - 1), 1, 1, true};
    const std::int64_t stride = number(1, 4);
    const std::int64_t start = number(0, size);
    return {start, number(0, (size - start + stride - 1) / stride), stride, false};
  }

 private:
  std::mt19937_64 random_;
};

TEST(RegionPairs, RandomRegionsOfRandomLayouts) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomCases random(seed);
    Extents shape;
    for (std::int64_t dimensions = random.number(1, 3); dimensions > 0; --dimensions)
      shape.push_back(random.number(0, 11));
    Region region;
    Extents region_shape;
    for (const std::int64_t size : shape) {
      region.push_back(random.slice(size));
      if (!region.back().single) region_shape.push_back(region.back().count);
    }
    check(random.layout(shape), random.layout(region_shape), region);
    if (HasFailure()) return;
  }
}

TEST(RegionPairs, RegionsOfAlignedLayouts) {
  const Region region{{1, 4, 3, false}, {5, 1, 1, true}};
  for (const char* source : {"12x8 (block, *) onto (3) align=(2*d0+1, d1) template=40x8",
                             "12x8 (cyclic, cyclic(2)) onto (2, 3) align=(d1, d0) template=9x12",
                             "12x8 (block, block) onto (2, 2) align=(d0, 3) template=12x4",
                             "12x8 (block, cyclic) onto (2, 3) offset=(1, 2) source=(1, 1) replicate=()"}) {
    try {
      check(Layout::parse(source), Layout::parse("4 (cyclic) onto (3)"), region);
    } catch (const Error& error) {
      ADD_FAILURE() << source << ": " << error.what();
    }
  }
}

TEST(RegionPairs, HugeArraysAreNotEnumerated) {
  const Layout source = Layout::parse("4000000000x1000000 (cyclic(3), block) onto (1000, 1000)");
  const Region region{{1, 1'300'000'000, 3, false}, {7, 1, 1, true}};
  const Layout target = Layout::parse("1300000000 (block) onto (1000)");
  const RegionPairs pairs(source, target, region, /*fill_halo=*/false);
  const auto senders = pairs.senders(17);
  EXPECT_EQ(senders.size(), 1000U);
  std::int64_t elements = 0;
  for (const std::int64_t sender : senders)
    elements += exchange::PackedMessage(pairs.products(sender, 17), pairs.target_order(), 8).elements();
  EXPECT_EQ(elements, target.local_elements(17));
}

}  // namespace
}  // namespace plait::plan
