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

/// A store in which the two pieces of a write that crosses an offset, the cut, become visible one after the other.
class TornStore : public store::memory::MemoryStore {
 public:
  enum class VisiblePiece : std::uint8_t { kAll, kFirst, kSecond };

  explicit TornStore(std::int64_t bytes) : MemoryStore(bytes) {}
  /// cut: an offset. visible_piece: the piece of later writes that becomes visible at once.
  void set_cut(std::int64_t cut, VisiblePiece visible_piece) {
    cut_ = cut;
    visible_piece_ = visible_piece;
  }
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override {
    std::vector<store::WriteSegment> visible_segments;
    for (const store::WriteSegment& segment : segments) {
      const std::int64_t first = std::clamp<std::int64_t>(cut_ - segment.offset, 0, segment.bytes);
      if (visible_piece_ == VisiblePiece::kAll || first == 0 || first == segment.bytes) {
        visible_segments.push_back(segment);
        continue;
      }
      const store::WriteSegment pieces[] = {{segment.offset, segment.data, first},
                                            {cut_, segment.data + first, segment.bytes - first}};
      const auto& hidden_piece = pieces[visible_piece_ == VisiblePiece::kFirst ? 1 : 0];
      visible_segments.push_back(pieces[visible_piece_ == VisiblePiece::kFirst ? 0 : 1]);
      hidden_.emplace_back(hidden_piece.offset,
                           std::vector<std::byte>(hidden_piece.data, hidden_piece.data + hidden_piece.bytes));
    }
    return MemoryStore::submit_write(std::move(visible_segments));
  }
  void show_all() {
    for (const auto& [offset, piece] : hidden_) std::ranges::copy(piece, bytes().begin() + offset);
    hidden_.clear();
  }

 private:
  std::int64_t cut_ = 0;
  VisiblePiece visible_piece_ = VisiblePiece::kAll;
  std::vector<std::pair<std::int64_t, std::vector<std::byte>>> hidden_;
};

bool are_equal(const Chunk& a, const Chunk& b) {
  return a.number == b.number && a.offset == b.offset && a.bytes == b.bytes && a.filter_mask == b.filter_mask;
}

constexpr std::int64_t kBegin = 64;  // offset of the log in the file
constexpr std::uint64_t kMark = 0x1122334455667788;

/// The views that two ranks have of one log.
class ChunkLogTest : public testing::Test {
 protected:
  ChunkLogTest() {
    for (ChunkLog* log : {&writer_, &reader_})
      log->share(std::make_unique<transport::MemoryCounter>(*counter_value_, counter_value_), /*is_only_writer=*/false);
  }
  static std::vector<std::byte> make_chunk(std::size_t bytes) { return std::vector<std::byte>(bytes, std::byte{0xa5}); }

  std::shared_ptr<TornStore> store_ = std::make_shared<TornStore>(4096);
  std::shared_ptr<std::atomic<std::int64_t>> counter_value_ = std::make_shared<std::atomic<std::int64_t>>(0);
  ChunkLog writer_{store_, kBegin, kMark};
  ChunkLog reader_{store_, kBegin, kMark};
};

TEST_F(ChunkLogTest, APartlyVisibleHeaderIsReadLater) {
  // The second header begins at 64 + 32 + 10 = 106.
  for (std::int64_t cut = 107; cut < 106 + ChunkLog::kHeaderBytes; ++cut)
    for (const auto visible_piece : {TornStore::VisiblePiece::kFirst, TornStore::VisiblePiece::kSecond}) {
      SCOPED_TRACE(testing::Message() << "cut at " << cut << ", piece " << static_cast<int>(visible_piece));
      // Earlier content of the file is zeros, or other bytes.
      for (const std::byte before : {std::byte{0}, std::byte{0x3c}}) {
        std::ranges::fill(store_->bytes(), before);
        counter_value_->store(0);
        ChunkLog writer(store_, kBegin, kMark);
        ChunkLog reader(store_, kBegin, kMark);
        for (ChunkLog* log : {&writer, &reader})
          log->share(std::make_unique<transport::MemoryCounter>(*counter_value_, counter_value_),
                     /*is_only_writer=*/false);
        writer.append(5, make_chunk(10));
        store_->set_cut(cut, visible_piece);
        writer.append(7, make_chunk(300), 2);
        store_->set_cut(0, TornStore::VisiblePiece::kAll);
        writer.append(9, make_chunk(20));
        reader.read_new_headers();
        EXPECT_TRUE(reader.find_last(5));
        EXPECT_FALSE(reader.find_last(7));
        EXPECT_FALSE(reader.find_last(9));
        EXPECT_FALSE(reader.is_complete());
        EXPECT_THROW((void)reader.list_chunks(), Error);
        store_->show_all();
        reader.read_new_headers();
        ASSERT_TRUE(reader.find_last(7));
        EXPECT_TRUE(are_equal(*reader.find_last(7), Chunk{7, 106 + ChunkLog::kHeaderBytes, 300, 2}));
        EXPECT_EQ(reader.list_chunks().size(), 3U);
        EXPECT_TRUE(reader.is_complete());
      }
    }
}

TEST_F(ChunkLogTest, ListsTheLastCopyOfAChunk) {
  writer_.append(3, make_chunk(10));
  reader_.append(4, make_chunk(0));
  writer_.append(3, make_chunk(12), 1);
  EXPECT_EQ(writer_.append_heap(make_chunk(5)), kBegin + 4 * ChunkLog::kHeaderBytes + 22);
  for (ChunkLog* log : {&writer_, &reader_}) {
    const std::vector<Chunk> chunks = log->list_chunks();
    ASSERT_EQ(chunks.size(), 2U);
    EXPECT_TRUE(are_equal(chunks[0], Chunk{3, kBegin + 3 * ChunkLog::kHeaderBytes + 10, 12, 1}));
    EXPECT_TRUE(are_equal(chunks[1], Chunk{4, kBegin + 2 * ChunkLog::kHeaderBytes + 10, 0, 0}));
  }
}

TEST_F(ChunkLogTest, SpaceThatCouldNotBeWrittenIsSkipped) {
  store_->fail_at(store_->segments() + 1);  // the header, after the chunk
  EXPECT_THROW(writer_.append(3, make_chunk(10)), Error);
  store_->fail_at(-1);
  writer_.append(4, make_chunk(10));
  const std::vector<Chunk> chunks = reader_.list_chunks();
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].number, 4);
}

}  // namespace
