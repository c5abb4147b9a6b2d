// The index of a gzip file, which one rank sends to the others.
#include "container/gzip/index.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>

#include "base/encoding/encoder.hpp"
#include "plait/error.hpp"

namespace {

using plait::container::gzip::Framing;
using plait::container::gzip::Index;

/// Returns an index with `points` points at which decompression can begin.
Index make_index(std::size_t points) {
  Index index;
  index.compressed_bytes = 1 << 20;
  index.content_bytes = 5LL << 32;
  index.framing = Framing::kNone;
  for (std::size_t i = 0; i < points; ++i)
    index.points.push_back({static_cast<std::int64_t>(i) * 1000, static_cast<std::int64_t>(i) << 30,
                            static_cast<int>(i % 8), i % 2 == 0, std::string(i * 100, '\n')});
  return index;
}

TEST(GzipIndex, ParsesToTheSameIndex) {
  const Index index = make_index(20);
  const Index actual = Index::parse(index.to_text());
  EXPECT_EQ(plait::base::encode(actual), plait::base::encode(index));
  ASSERT_EQ(actual.points.size(), 20U);
  EXPECT_EQ(actual.framing, Framing::kNone);
  EXPECT_EQ(actual.points[3].window, std::string(300, '\n'));
  EXPECT_EQ(actual.find_point(7LL << 29).unused_bits, 3);
}

TEST(GzipIndex, DamagedTextIsAnError) {
  const std::string whole = make_index(3).to_text();
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(Index::parse(whole.substr(0, length)), plait::Error) << length;
  for (std::size_t offset = 0; offset < whole.size(); ++offset) {
    std::string changed = whole;
    changed[offset] = static_cast<char>(~changed[offset]);
    EXPECT_THROW(Index::parse(changed), plait::Error) << offset;
  }
  EXPECT_THROW(Index::parse(make_index(0).to_text()), plait::Error);
}

}  // namespace
