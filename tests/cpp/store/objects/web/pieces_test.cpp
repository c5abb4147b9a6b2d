// Pieces: the requests into which ranges of an object are joined or divided, and the bytes that arrive for them.
#include "store/objects/web/pieces.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "store/http/settings.hpp"

namespace {

using plait::store::ReadSegment;
using plait::store::http::piece_bytes;
using plait::store::http::Response;
using plait::store::web::kMaxGap;
using plait::store::web::make_pieces;
using plait::store::web::Piece;
using plait::store::web::PieceSink;

/// Returns the header Range of each piece.
std::vector<std::string> ranges_for(std::vector<ReadSegment> ranges) {
  std::vector<std::string> result;
  for (const Piece& piece : make_pieces(std::move(ranges))) result.push_back(piece.range());
  return result;
}

TEST(Pieces, JoinNeighboursAndDivideLongRanges) {
  std::vector<std::byte> memory(static_cast<std::size_t>(3 * piece_bytes()));
  std::byte* const at = memory.data();
  EXPECT_EQ(ranges_for({{300, at, 100}, {0, at, 100}}), std::vector<std::string>{"bytes=0-399"});
  // A gap of up to kMaxGap (64 KiB) bytes is read and dropped, because another request takes longer.
  EXPECT_EQ(ranges_for({{0, at, 1}, {kMaxGap + 1, at, 1}}), std::vector<std::string>{"bytes=0-65537"});
  EXPECT_EQ(ranges_for({{0, at, 1}, {kMaxGap + 2, at, 1}}),
            (std::vector<std::string>{"bytes=0-0", "bytes=65538-65538"}));
  EXPECT_EQ(ranges_for({{10, at, 2 * piece_bytes() + 5}}),
            (std::vector<std::string>{"bytes=10-4194313", "bytes=4194314-8388617", "bytes=8388618-8388622"}));
  EXPECT_EQ(ranges_for({{-16, at, 16}, {5, at, 0}}), std::vector<std::string>{"bytes=-16"});
}

TEST(Pieces, DeliverEachByteOnce) {
  // The memory must have the bytes of the ranges, however the body is divided when it arrives.
  std::vector<std::byte> object(400'000);
  for (std::size_t i = 0; i < object.size(); ++i) object[i] = static_cast<std::byte>(i * 7 % 251);
  for (const std::size_t arriving_bytes : {std::size_t{1000}, std::size_t{65536}, object.size()}) {
    std::vector<std::byte> memory(300'000);
    std::vector<ReadSegment> ranges{{5, memory.data(), 10},
                                    {40'000, memory.data() + 10, 20'000},
                                    {60'000, memory.data() + 20'010, 7},
                                    {200'000, memory.data() + 20'017, 150'000}};
    for (Piece& piece : make_pieces(ranges)) {
      const Piece copy = piece;
      PieceSink sink(std::move(piece));
      Response head;
      head.status = 206;
      head.headers = {{"content-range", "bytes " + copy.range().substr(6) + "/400000"}};
      ASSERT_TRUE(sink.begin(head));
      for (std::int64_t done = 0; done < copy.bytes; done += static_cast<std::int64_t>(arriving_bytes)) {
        EXPECT_FALSE(sink.complete());
        const auto bytes = std::min<std::int64_t>(static_cast<std::int64_t>(arriving_bytes), copy.bytes - done);
        sink.receive(
            std::span(object).subspan(static_cast<std::size_t>(copy.begin + done), static_cast<std::size_t>(bytes)));
      }
      EXPECT_TRUE(sink.complete());
      EXPECT_TRUE(sink.is_inside());
      EXPECT_EQ(sink.object_bytes(), 400'000);
    }
    for (const ReadSegment& range : ranges)
      EXPECT_TRUE(std::equal(range.data, range.data + range.bytes, object.begin() + range.offset));
  }
}

TEST(Pieces, RejectOtherRanges) {
  std::array<std::byte, 10> memory{};
  for (const char* range : {"bytes 1-10/100", "bytes 0-9", "items 0-9/100", "bytes 0-9/*", "bytes 9-0/100", ""}) {
    PieceSink sink({0, 10, {{0, memory.data(), 10}}});
    Response head;
    head.status = 206;
    head.headers = {{"content-range", range}};
    EXPECT_FALSE(sink.begin(head)) << range;
    EXPECT_FALSE(sink.has_ignored_range());
  }
}

TEST(Pieces, WholeBodiesHaveAMaximum) {
  const std::array<std::byte, 60> bytes{};
  plait::store::web::WholeSink sink(100);
  Response head;
  head.status = 200;
  head.headers = {{"content-length", "101"}};
  EXPECT_FALSE(sink.begin(head));
  head.headers.clear();  // the server does not state the length
  ASSERT_TRUE(sink.begin(head));
  EXPECT_TRUE(sink.receive(bytes));
  EXPECT_FALSE(sink.receive(bytes));
}

}  // namespace
