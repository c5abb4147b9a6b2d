// What one rank tells the others of a dataset.
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

HdfDataset dataset_with(std::int64_t chunks) {
  HdfDataset dataset;
  dataset.type = {{chunks * 8, 30}, ">f8", 8, plait::Order::kC};
  dataset.fill = {std::byte{1}, std::byte{2}, std::byte{0}, std::byte{0xff}};
  dataset.storage = Storage::kChunks;
  dataset.chunk = {8, 30};
  dataset.filters = {{2, {8}, "shuffle"}, {32015, {3, 1U << 31}, "zstd"}};
  dataset.edges_packed = false;
  std::mt19937_64 draw(1);
  std::int64_t offset = 5000;
  for (std::int64_t i = 0; i < chunks; ++i) {
    if (draw() % 50 == 0) continue;
    const auto bytes = static_cast<std::int64_t>(900 + draw() % 60);
    dataset.chunks.push_back({i, offset, bytes, draw() % 100 == 0 ? 3U : 0U});
    offset = draw() % 30 == 0 ? offset - 3000 : offset + bytes;
  }
  return dataset;
}

TEST(HdfDataset, IsTheSameForWhoeverIsTold) {
  for (const std::int64_t chunks : {0, 1, 2, 1000}) {
    const HdfDataset given = dataset_with(chunks);
    const HdfDataset found = unpacked(packed(given));
    EXPECT_EQ(found.type.shape, given.type.shape);
    EXPECT_EQ(found.type.dtype, given.type.dtype);
    EXPECT_EQ(found.fill, given.fill);
    EXPECT_EQ(found.chunk, given.chunk);
    EXPECT_FALSE(found.edges_packed);
    ASSERT_EQ(found.filters.size(), 2U);
    EXPECT_EQ(found.filters[1].values, given.filters[1].values);
    ASSERT_EQ(found.chunks.size(), given.chunks.size());
    for (std::size_t i = 0; i < found.chunks.size(); ++i) {
      EXPECT_EQ(found.chunks[i].number, given.chunks[i].number);
      EXPECT_EQ(found.chunks[i].offset, given.chunks[i].offset);
      EXPECT_EQ(found.chunks[i].bytes, given.chunks[i].bytes);
      EXPECT_EQ(found.chunks[i].left_out, given.chunks[i].left_out);
    }
  }
}

TEST(HdfDataset, TakesFewBytesForAChunk) { EXPECT_LT(packed(dataset_with(100'000)).size(), 450'000U); }

TEST(HdfDataset, ThatIsCutOffIsAnError) {
  const std::string whole = packed(dataset_with(40));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(unpacked(std::string_view(whole).substr(0, length)), plait::Error) << length;
}

}  // namespace
