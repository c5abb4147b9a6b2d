// The description of an HDF5 dataset, which one rank encodes and sends to the others.
#include "container/hdf5/dataset.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "plait/error.hpp"

namespace {

using namespace plait::container::hdf5;

/// Returns a dataset with a grid of `chunks` chunks. Some are missing, and some are stored in another order than
/// that of their numbers.
HdfDataset make_dataset(std::int64_t chunks) {
  HdfDataset dataset;
  dataset.type = {{chunks * 8, 30}, ">f8", 8, plait::Order::kC};
  dataset.fill = {std::byte{1}, std::byte{2}, std::byte{0}, std::byte{0xff}};
  dataset.storage = Storage::kChunks;
  dataset.chunk = {8, 30};
  dataset.filters = {{2, {8}, "shuffle"}, {32015, {3, 1U << 31}, "zstd"}};
  dataset.filters_edge_chunks = false;
  std::mt19937_64 generator(1);
  std::int64_t offset = 5000;
  for (std::int64_t i = 0; i < chunks; ++i) {
    if (generator() % 50 == 0) continue;  // a missing chunk
    const auto bytes = static_cast<std::int64_t>(900 + generator() % 60);
    dataset.chunks.push_back({i, offset, bytes, generator() % 100 == 0 ? 3U : 0U});
    offset = generator() % 30 == 0 ? offset - 3000 : offset + bytes;
  }
  return dataset;
}

TEST(HdfDataset, DecodesToTheEncodedDescription) {
  for (const std::int64_t chunks : {0, 1, 2, 1000}) {
    const HdfDataset original = make_dataset(chunks);
    const HdfDataset actual = decode_dataset(encode_dataset(original));
    EXPECT_EQ(actual.type.shape, original.type.shape);
    EXPECT_EQ(actual.type.dtype, original.type.dtype);
    EXPECT_EQ(actual.fill, original.fill);
    EXPECT_EQ(actual.chunk, original.chunk);
    EXPECT_FALSE(actual.filters_edge_chunks);
    ASSERT_EQ(actual.filters.size(), 2U);
    EXPECT_EQ(actual.filters[1].values, original.filters[1].values);
    ASSERT_EQ(actual.chunks.size(), original.chunks.size());
    for (std::size_t i = 0; i < actual.chunks.size(); ++i) {
      EXPECT_EQ(actual.chunks[i].number, original.chunks[i].number);
      EXPECT_EQ(actual.chunks[i].offset, original.chunks[i].offset);
      EXPECT_EQ(actual.chunks[i].bytes, original.chunks[i].bytes);
      EXPECT_EQ(actual.chunks[i].filter_mask, original.chunks[i].filter_mask);
    }
  }
}

TEST(HdfDataset, NeedsFewBytesForAChunk) { EXPECT_LT(encode_dataset(make_dataset(100'000)).size(), 450'000U); }

TEST(HdfDataset, ATruncatedDescriptionIsAnError) {
  const std::string whole = encode_dataset(make_dataset(40));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(decode_dataset(std::string_view(whole).substr(0, length)), plait::Error) << length;
}

}  // namespace
