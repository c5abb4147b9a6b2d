// Events of a trace as requests to files, and requests cut into blocks of a cache.
#include "simulation/cache/requests.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace plait::simulation {
namespace {

trace::Event make_event(std::uint32_t process, std::uint32_t file, std::int64_t offset, std::int64_t bytes) {
  trace::Event event;
  event.process = process;
  event.file = file;
  event.offset = offset;
  event.length = event.result = bytes;
  return event;
}

TEST(RequestReader, IdentifiesFilesByName) {
  RequestReader reader;
  reader.add({10, 1, "a"});
  reader.add({10, 2, "b"});
  reader.add({20, 1, "b"});
  reader.add({20, 2, ""});
  FileRequest first;
  FileRequest second;
  ASSERT_TRUE(reader.read(make_event(10, 2, 0, 1), first));
  ASSERT_TRUE(reader.read(make_event(20, 1, 0, 1), second));
  EXPECT_EQ(first.file, second.file);
  EXPECT_NE(first.process, second.process);
  ASSERT_TRUE(reader.read(make_event(10, 1, 0, 1), second));
  EXPECT_NE(first.file, second.file);
  // Opens without a known name are separate files.
  ASSERT_TRUE(reader.read(make_event(20, 2, 0, 1), first));
  ASSERT_TRUE(reader.read(make_event(20, 3, 0, 1), second));
  EXPECT_NE(first.file, second.file);
  // The number is reused for another file.
  reader.add({10, 1, "b"});
  ASSERT_TRUE(reader.read(make_event(10, 1, 0, 1), first));
  ASSERT_TRUE(reader.read(make_event(10, 2, 0, 1), second));
  EXPECT_EQ(first.file, second.file);
  EXPECT_EQ(reader.processes(), 2U);
}

TEST(RequestReader, CountsIgnoredEvents) {
  RequestReader reader;
  FileRequest request;
  EXPECT_FALSE(reader.read(make_event(1, 1, 0, 0), request));
  EXPECT_FALSE(reader.read(make_event(1, 1, 0, -5), request));
  EXPECT_FALSE(reader.read(make_event(1, 1, -1, 5), request));
  EXPECT_FALSE(reader.read(make_event(1, 1, std::numeric_limits<std::int64_t>::max(), 1), request));
  EXPECT_FALSE(reader.read(make_event(1, 1, kMaxRequestEnd, 1), request));
  EXPECT_FALSE(reader.read(make_event(1, 1, 0, kMaxRequestBytes + 1), request));
  EXPECT_TRUE(reader.read(make_event(1, 1, kMaxRequestEnd - 1, 1), request));
  trace::Event open = make_event(1, 1, 0, 5);
  open.kind = trace::Kind::kOpen;
  EXPECT_FALSE(reader.read(open, request));
  trace::Event late = make_event(1, 1, 0, 5);
  late.start = 100;
  EXPECT_TRUE(reader.read(late, request));
  late.start = 99;
  EXPECT_TRUE(reader.read(late, request));
  late.start = 99;
  EXPECT_TRUE(reader.read(late, request));
  const Oddities& oddities = reader.oddities();
  EXPECT_EQ(oddities.empty, 1);
  EXPECT_EQ(oddities.failed, 1);
  EXPECT_EQ(oddities.streams, 1);
  EXPECT_EQ(oddities.beyond, 3);
  EXPECT_EQ(oddities.backwards, 1);
}

TEST(Cut, GivesEachBlockItsBytes) {
  Batch batch;
  cut({3, 1, 90, 250}, 100, batch, [] { FAIL(); });
  ASSERT_EQ(batch.uses.size(), 4U);
  const std::int64_t bytes[] = {10, 100, 100, 40};
  for (std::uint64_t k = 0; k < 4; ++k) {
    EXPECT_EQ(batch.uses[k].key, (BlockKey{k, 3}));
    EXPECT_EQ(batch.uses[k].process, 1U);
    EXPECT_EQ(batch.pieces[k].bytes, bytes[k]);
    EXPECT_EQ(batch.pieces[k].last, k == 3);
  }
}

TEST(Cut, PassesOnLargeRequestsInParts) {
  Batch batch;
  std::size_t uses = 0;
  std::int64_t bytes = 0;
  int ends = 0;
  const auto take = [&] {
    uses += batch.uses.size();
    for (const Piece& piece : batch.pieces) {
      bytes += piece.bytes;
      ends += piece.last ? 1 : 0;
    }
    clear(batch);
  };
  const std::int64_t end = std::numeric_limits<std::int64_t>::max();
  cut({0, 0, end - 10'000'000, 10'000'000}, 1000, batch, take);
  EXPECT_LT(batch.uses.size(), kBatch);
  take();
  EXPECT_EQ(bytes, 10'000'000);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(uses, 10'001U);
}

}  // namespace
}  // namespace plait::simulation
