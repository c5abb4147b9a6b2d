// Computes accesses element by element: the expected content of each local array after a read, and of the store after
// a write.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "copy/local_array.hpp"
#include "oracle.hpp"
#include "plait/file.hpp"
#include "plait/region.hpp"

namespace access_case {

using oracle::to_size_t;
using plait::ConstPart;
using plait::Extents;
using plait::Layout;
using plait::MutablePart;
using plait::Order;
using plait::Region;
using plait::copy::LocalArray;
using Bytes = std::vector<std::byte>;

/// An array in a store, and an access to a region of it by the ranks of a layout.
struct Case {
  Extents file_shape;
  Order file_order = Order::kC;
  Region region;  // empty means the whole array
  Layout layout;
  std::int64_t element_bytes = 8;
  std::int64_t offset = 0;
};

inline std::string describe(const Case& access) {
  return plait::shape_to_string(access.file_shape) + (access.file_order == Order::kFortran ? " F " : " C ") +
         plait::to_string(access.region) + " as " + oracle::describe(access.layout) + ", elements of " +
         std::to_string(access.element_bytes) + " bytes from " + std::to_string(access.offset);
}

/// A byte whose value depends on its position.
inline std::byte byte_at(std::int64_t position) {
  const auto mixed = static_cast<std::uint64_t>(position + 1) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::byte>(mixed >> 56U);
}

/// Returns the file position of each element of the layout's array, in C order of the layout's index.
inline Extents file_positions(const Case& access) {
  Region region = access.region;
  if (region.empty())
    for (const std::int64_t size : access.file_shape) region.push_back({0, size, 1, false});
  Extents result;
  oracle::for_each_index(access.layout.shape(), [&](const Extents& index) {
    Extents file(access.file_shape.size());
    std::size_t next = 0;
    for (std::size_t d = 0; d < file.size(); ++d)
      file[d] = region[d].start + (region[d].single ? 0 : index[next++] * region[d].stride);
    result.push_back(oracle::dense_offset(file, access.file_shape, access.file_order));
  });
  return result;
}

/// Returns the size in bytes of the store that contains the array.
inline std::int64_t store_bytes(const Case& access) {
  std::int64_t elements = 1;
  for (const std::int64_t size : access.file_shape) elements *= size;
  return access.offset + elements * access.element_bytes;
}

/// Returns a store filled with bytes whose values depend on their positions.
inline Bytes pattern(std::int64_t bytes) {
  Bytes result(to_size_t(bytes));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = byte_at(static_cast<std::int64_t>(i));
  return result;
}

/// Returns the dense local array of each rank, with the elements that the rank reads from `store`.
inline std::vector<Bytes> make_locals(const Case& access, const Bytes& store) {
  const oracle::ArrayMap map = oracle::make_map(access.layout);
  std::vector<Bytes> result;
  for (const Extents& shape : map.local_shapes) {
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) elements *= size;
    result.emplace_back(to_size_t(elements * access.element_bytes));
  }
  const Extents positions = file_positions(access);
  for (std::size_t i = 0; i < positions.size(); ++i)
    for (std::int64_t b = 0; b < access.element_bytes; ++b)
      result[to_size_t(map.positions[i].rank)][to_size_t(map.positions[i].offset * access.element_bytes + b)] =
          store[to_size_t(access.offset + positions[i] * access.element_bytes + b)];
  return result;
}

/// Returns a store of bytes `elsewhere` after the access has written to it; the elements have the values of `source`.
inline Bytes store_after_write(const Case& access, const Bytes& source, std::byte elsewhere) {
  Bytes result(source.size(), elsewhere);
  for (const std::int64_t position : file_positions(access))
    for (std::int64_t b = 0; b < access.element_bytes; ++b) {
      const std::size_t byte = to_size_t(access.offset + position * access.element_bytes + b);
      result[byte] = source[byte];
    }
  return result;
}

/// Returns the strides in bytes of a dense array.
inline Extents dense_byte_strides(const Extents& shape, Order order, std::int64_t element_bytes) {
  Extents strides(shape.size());
  std::int64_t stride = element_bytes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t d = order == Order::kC ? shape.size() - 1 - i : i;
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

/// Describes the buffer of each rank as the rank's local array.
inline std::vector<LocalArray> arrays_over(const Layout& layout, std::vector<Bytes>& locals,
                                           std::int64_t element_bytes) {
  const oracle::ArrayMap map = oracle::make_map(layout);
  std::vector<LocalArray> result;
  for (std::size_t rank = 0; rank < locals.size(); ++rank)
    result.push_back({static_cast<std::int64_t>(rank), locals[rank].data(),
                      dense_byte_strides(map.local_shapes[rank], oracle::storage_order(layout), element_bytes)});
  return result;
}

/// Converts the buffers of the ranks to the library's argument type.
inline std::vector<ConstPart> const_parts(const std::vector<Bytes>& arrays) {
  std::vector<ConstPart> result;
  for (const Bytes& array : arrays) result.push_back({array.data(), {}});
  return result;
}

inline std::vector<MutablePart> mutable_parts(std::vector<Bytes>& arrays) {
  std::vector<MutablePart> result;
  for (Bytes& array : arrays) result.push_back({array.data(), {}});
  return result;
}

using Random = std::mt19937;

inline std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}
template <typename Value>
const Value& pick(Random& random, const std::vector<Value>& values) {
  return values[to_size_t(pick(random, 0, static_cast<std::int64_t>(values.size()) - 1))];
}
inline Order pick_order(Random& random) { return pick(random, 0, 1) == 0 ? Order::kC : Order::kFortran; }

/// Returns a random layout of a shape on exactly `ranks` ranks; a scalar needs `ranks` = 1.
inline Layout random_layout(Random& random, const Extents& shape, std::int64_t ranks) {
  std::vector<plait::Distribution> distributions(shape.size());
  Extents grid;
  std::int64_t remaining_ranks = ranks;
  const std::int64_t last_distributed =
      shape.empty() ? -1 : pick(random, 0, static_cast<std::int64_t>(shape.size()) - 1);
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t n = 1; n <= remaining_ranks; ++n)
      if (remaining_ranks % n == 0) divisors.push_back(n);
    // The last distributed dimension takes all ranks that the earlier ones have not used.
    const std::int64_t extent = d == last_distributed  ? remaining_ranks
                                : d < last_distributed ? pick(random, divisors)
                                                       : 1;
    if (extent == 1 && pick(random, 0, 1) == 0) continue;  // half of these dimensions stay collapsed
    remaining_ranks /= extent;
    grid.push_back(extent);
    distributions[to_size_t(d)] = pick(random, oracle::distributions_for(shape[to_size_t(d)], extent, 4));
  }
  return {shape, distributions, grid, pick_order(random), pick_order(random)};
}

/// Returns a random region of an array; sometimes the whole array.
inline Region random_region(Random& random, const Extents& shape) {
  Region region;
  if (pick(random, 0, 2) == 0) return region;
  for (const std::int64_t size : shape) {
    const std::int64_t kind = pick(random, 0, 5);  // 0: a single index; 1, 2: the whole dimension; else a slice
    if (kind == 0 && size > 0) {
      region.push_back({pick(random, 0, size - 1), 1, 1, true});
    } else if (kind <= 2) {
      region.push_back({0, size, 1, false});
    } else {
      const std::int64_t start = pick(random, 0, size);
      const std::int64_t stride = pick(random, 1, 3);
      const std::int64_t max_count = (size - start + stride - 1) / stride;
      const std::int64_t count = pick(random, 0, 7) == 0 ? 0 : pick(random, max_count / 2, max_count);
      region.push_back({count == 0 ? 0 : start, count, stride, false});
    }
  }
  return region;
}

/// Returns the shape of the array that a region selects; single indices drop their dimension.
inline Extents region_shape(const Region& region, const Extents& shape) {
  if (region.empty()) return shape;
  Extents result;
  for (const plait::Slice& slice : region)
    if (!slice.single) result.push_back(slice.count);
  return result;
}

/// Returns a random access by a layout of `ranks` ranks.
inline Case random_case(Random& random, std::int64_t ranks, const std::vector<std::int64_t>& element_sizes) {
  static const std::vector<Extents> kShapes{{},     {1},    {7},       {0},       {40},         {5, 6},
                                            {1, 9}, {8, 8}, {3, 4, 5}, {2, 0, 3}, {2, 3, 2, 4}, {23, 3}};
  while (true) {
    Case access;
    access.file_shape = pick(random, kShapes);
    access.file_order = pick_order(random);
    access.region = random_region(random, access.file_shape);
    const Extents shape = region_shape(access.region, access.file_shape);
    if (shape.empty() && ranks > 1) continue;  // a scalar has one rank
    access.layout = random_layout(random, shape, ranks);
    access.element_bytes = pick(random, element_sizes);
    access.offset = pick(random, std::vector<std::int64_t>{0, 1, 128, 4096 + 16});
    return access;
  }
}

}  // namespace access_case
