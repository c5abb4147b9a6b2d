// The log of compressed chunks, as ranks see it while other ranks append to it.
#include "container/hdf5/writing/chunk_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "plait/error.hpp"
#include "store/memory/memory_store.hpp"
#include "transport/counter.hpp"

namespace {

using namespace plait;
using namespace plait::container::hdf5;

/// A store of two messages: of each write that crosses a cut, it shows one piece at once and the other one later.
class TornStore : public store::memory::MemoryStore {
 public:
  enum class Shown : std::uint8_t { kAll, kFirst, kSecond };

  explicit TornStore(std::int64_t bytes) : MemoryStore(bytes) {}
  /// cut: an offset. shown: the pieces that later writes show at once.
  void tear(std::int64_t cut, Shown shown) {
    cut_ = cut;
    shown_ = shown;
  }
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override {
    std::vector<store::WriteSegment> now;
    for (const store::WriteSegment& segment : segments) {
      const std::int64_t first = std::clamp<std::int64_t>(cut_ - segment.offset, 0, segment.bytes);
      if (shown_ == Shown::kAll || first == 0 || first == segment.bytes) {
        now.push_back(segment);
        continue;
      }
      const store::WriteSegment pieces[] = {{segment.offset, segment.data, first},
                                            {cut_, segment.data + first, segment.bytes - first}};
      const auto& hidden = pieces[shown_ == Shown::kFirst ? 1 : 0];
      now.push_back(pieces[shown_ == Shown::kFirst ? 0 : 1]);
      late_.emplace_back(hidden.offset, std::vector<std::byte>(hidden.data, hidden.data + hidden.bytes));
    }
    return MemoryStore::submit_write(std::move(now));
  }
  void show_all() {
    for (const auto& [offset, piece] : late_) std::ranges::copy(piece, bytes().begin() + offset);
    late_.clear();
  }

 private:
  std::int64_t cut_ = 0;
  Shown shown_ = Shown::kAll;
  std::vector<std::pair<std::int64_t, std::vector<std::byte>>> late_;
};

bool same(const Chunk& a, const Chunk& b) {
  return a.number == b.number && a.offset == b.offset && a.bytes == b.bytes && a.left_out == b.left_out;
}

constexpr std::int64_t kBegin = 64;
constexpr std::uint64_t kMark = 0x1122334455667788;

/// The ends of two ranks of one log.
class ChunkLogTest : public testing::Test {
 protected:
  ChunkLogTest() {
    for (ChunkLog* log : {&writer_, &reader_})
      log->share(std::make_unique<transport::MemoryCounter>(*word_, word_), false);
  }
  static std::vector<std::byte> chunk(std::size_t bytes) { return std::vector<std::byte>(bytes, std::byte{0xa5}); }

  std::shared_ptr<TornStore> store_ = std::make_shared<TornStore>(4096);
  std::shared_ptr<std::atomic<std::int64_t>> word_ = std::make_shared<std::atomic<std::int64_t>>(0);
  ChunkLog writer_{store_, kBegin, kMark};
  ChunkLog reader_{store_, kBegin, kMark};
};

TEST_F(ChunkLogTest, AHeaderOfWhichOnlyOnePieceIsVisibleIsReadLater) {
  // The second header begins at 64 + 32 + 10 = 106.
  for (std::int64_t cut = 107; cut < 106 + ChunkLog::kHeaderBytes; ++cut)
    for (const auto shown : {TornStore::Shown::kFirst, TornStore::Shown::kSecond}) {
      SCOPED_TRACE(testing::Message() << "cut at " << cut << ", piece " << static_cast<int>(shown));
      // Earlier content of the file is zeros, or other bytes.
      for (const std::byte before : {std::byte{0}, std::byte{0x3c}}) {
        std::ranges::fill(store_->bytes(), before);
        word_->store(0);
        ChunkLog writer(store_, kBegin, kMark);
        ChunkLog reader(store_, kBegin, kMark);
        for (ChunkLog* log : {&writer, &reader})
          log->share(std::make_unique<transport::MemoryCounter>(*word_, word_), false);
        writer.append(5, chunk(10));
        store_->tear(cut, shown);
        writer.append(7, chunk(300), 2);
        store_->tear(0, TornStore::Shown::kAll);
        writer.append(9, chunk(20));
        reader.read_new_headers();
        EXPECT_TRUE(reader.last(5));
        EXPECT_FALSE(reader.last(7));
        EXPECT_FALSE(reader.last(9));
        EXPECT_FALSE(reader.complete());
        EXPECT_THROW((void)reader.all(), Error);
        store_->show_all();
        reader.read_new_headers();
        ASSERT_TRUE(reader.last(7));
        EXPECT_TRUE(same(*reader.last(7), Chunk{7, 106 + ChunkLog::kHeaderBytes, 300, 2}));
        EXPECT_EQ(reader.all().size(), 3U);
        EXPECT_TRUE(reader.complete());
      }
    }
}

TEST_F(ChunkLogTest, TheLastCopyOfAChunkCounts) {
  writer_.append(3, chunk(10));
  reader_.append(4, chunk(0));
  writer_.append(3, chunk(12), 1);
  EXPECT_EQ(writer_.append_heap(chunk(5)), kBegin + 4 * ChunkLog::kHeaderBytes + 22);
  for (ChunkLog* log : {&writer_, &reader_}) {
    const std::vector<Chunk> chunks = log->all();
    ASSERT_EQ(chunks.size(), 2U);
    EXPECT_TRUE(same(chunks[0], Chunk{3, kBegin + 3 * ChunkLog::kHeaderBytes + 10, 12, 1}));
    EXPECT_TRUE(same(chunks[1], Chunk{4, kBegin + 2 * ChunkLog::kHeaderBytes + 10, 0, 0}));
  }
}

TEST_F(ChunkLogTest, SpaceThatCouldNotBeWrittenIsSkipped) {
  store_->fail_at(store_->segments() + 1);  // the header, after the chunk
  EXPECT_THROW(writer_.append(3, chunk(10)), Error);
  store_->fail_at(-1);
  writer_.append(4, chunk(10));
  const std::vector<Chunk> chunks = reader_.all();
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].number, 4);
}

}  // namespace
