// Chunks of texts in the codec vlen-utf8: round trips and truncation at every byte.
#include "container/zarr/texts/vlen.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "plait/error.hpp"

namespace {

using namespace plait;
using namespace plait::container::zarr;

TEST(Vlen, DecodesToTheEncodedTexts) {
  const std::vector<std::string_view> texts{"ab", "", "cdefg"};
  const std::vector<std::byte> bytes = encode_texts(texts, "a chunk");
  EXPECT_EQ(bytes.size(), 4U + 3 * 4 + 7);
  EXPECT_EQ(decode_texts(bytes, 3, "a chunk"), texts);
  EXPECT_THROW(decode_texts(bytes, 2, "a chunk"), Error);
}

TEST(Vlen, RejectsTruncatedChunks) {
  const std::vector<std::byte> bytes = encode_texts(std::vector<std::string_view>{"ab", "c"}, "a chunk");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(decode_texts(std::span(bytes).first(size), 2, "a chunk"), Error) << size;
}

}  // namespace
