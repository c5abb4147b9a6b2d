// Streams of modes 0 (kOwn) and 1 (kShared) over ranks that are threads, and the common properties of all modes.
#include "plait/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "oracle.hpp"
#include "plait/error.hpp"
#include "stream_case.hpp"

namespace {

using namespace stream_case;
using plait::Comm;
using plait::File;
using plait::Mode;
using plait::Stream;
using plait::StreamMode;
using plait::StreamRequest;

using Streams = StreamFolder;

TEST_F(Streams, OwnPositionsAreIndependent) {
  constexpr std::int64_t kCount = 500;
  const std::string name = make_numbers_file(kCount);
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(describe(ranks));
    on_ranks(ranks, [&](const Comm& comm) {
      RandomDelay random(1, comm.rank());
      File file = File::open(name, Mode::kRead, int64_options(kCount, kHeaderBytes), comm);
      Stream stream(file, StreamMode::kOwn);
      EXPECT_EQ(stream.tell(), 0);
      std::int64_t position = 0;
      const std::int64_t reads = random.random_up_to(30);  // the ranks make different numbers of reads
      for (int i = 0; i < reads; ++i) {
        random.sleep_randomly();
        if (random.random_up_to(2) == 0) stream.seek(position = random.random_up_to(kCount));
        const std::int64_t read_length = random.random_up_to(100);
        const std::int64_t expected = std::min(read_length, kCount - position);
        ASSERT_EQ(read(stream, read_length), range(position, expected));
        position += expected;
        ASSERT_EQ(stream.tell(), position);
      }
      file.close();
    });
  }
}

TEST_F(Streams, OwnWritesAreStoredAtTheirPositions) {
  constexpr std::int64_t kPerRank = 40;
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(describe(ranks));
    const std::int64_t count = kPerRank * ranks.count;
    make_numbers_file(count);
    on_ranks(ranks, [&](const Comm& comm) {
      File file = File::open(path(), Mode::kReadWrite, int64_options(count, kHeaderBytes), comm);
      Stream stream(file, StreamMode::kOwn);
      stream.seek(comm.rank() * kPerRank);
      Numbers local = range(1000 * (comm.rank() + 1), kPerRank);
      EXPECT_EQ(stream.write(bytes(local), kPerRank), kPerRank);
      // The same rank reads its own write at once.
      stream.seek(comm.rank() * kPerRank);
      EXPECT_EQ(read(stream, kPerRank), local);
      file.close();
    });
    const Numbers actual = content("a", kHeaderBytes);
    for (std::int64_t i = 0; i < count; ++i)
      ASSERT_EQ(actual[static_cast<std::size_t>(i)], 1000 * (i / kPerRank + 1) + i % kPerRank);
  }
}

TEST_F(Streams, ReadsWithASharedPositionGetEachElementOnce) {
  constexpr std::int64_t kCount = 3000;
  const std::string name = make_numbers_file(kCount);
  for (const Ranks& ranks : all_ranks())
    for (const bool nonblocking : {false, true}) {
      SCOPED_TRACE(describe(ranks));
      std::mutex mutex;
      std::vector<Numbers> pieces;
      on_ranks(ranks, [&](const Comm& comm) {
        RandomDelay random(2, comm.rank());
        File file = File::open(name, Mode::kRead, int64_options(kCount, kHeaderBytes), comm);
        Stream stream(file, StreamMode::kShared);
        while (true) {
          random.sleep_randomly();
          Numbers actual;
          const std::int64_t read_length = 1 + random.random_up_to(30);
          if (nonblocking) {
            actual.resize(static_cast<std::size_t>(read_length));
            StreamRequest request = stream.start_read(bytes(actual), read_length);
            random.sleep_randomly();
            actual.resize(static_cast<std::size_t>(request.wait()));
          } else {
            actual = read(stream, read_length);
          }
          const std::scoped_lock lock(mutex);
          if (actual.empty()) break;
          pieces.push_back(actual);
        }
        EXPECT_EQ(stream.tell(), kCount);
        EXPECT_TRUE(read(stream, 5).empty());
        file.close();
      });
      std::sort(pieces.begin(), pieces.end());
      std::int64_t next = 0;
      for (const Numbers& piece : pieces) {
        ASSERT_EQ(piece, range(next, static_cast<std::int64_t>(piece.size())));
        next += static_cast<std::int64_t>(piece.size());
      }
      EXPECT_EQ(next, kCount);
    }
}

TEST_F(Streams, WritesWithASharedPositionAreStoredOnceEach) {
  constexpr std::int64_t kCount = 2000;
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(describe(ranks));
    std::filesystem::remove(path("new"));
    std::vector<std::int64_t> written(static_cast<std::size_t>(ranks.count));
    on_ranks(ranks, [&](const Comm& comm) {
      RandomDelay random(3, comm.rank());
      File file = File::open(path("new"), Mode::kWrite, int64_options(kCount, 0), comm);
      Stream stream(file, StreamMode::kShared);
      std::int64_t& own_count = written[static_cast<std::size_t>(comm.rank())];
      std::int64_t length = 1 + random.random_up_to(30);
      while (length > 0) {
        random.sleep_randomly();
        Numbers numbers = range((comm.rank() + 1) * 1'000'000 + own_count, length);
        try {
          own_count += stream.write(bytes(numbers), length);
          length = 1 + random.random_up_to(30);
        } catch (const plait::Error& error) {
          ASSERT_EQ(error.kind(), plait::ErrorKind::kArgument);
          length = length == 1 ? 0 : length / 2;  // a shorter write may still fit at the end
        }
      }
      EXPECT_EQ(stream.tell(), kCount);
      EXPECT_FALSE(std::filesystem::exists(path("new")));
      file.close();
    });
    // The numbers of each rank are in the file once, and in the order in which it wrote them.
    std::vector<std::int64_t> next(written.size());
    for (const std::int64_t number : content("new", 0)) {
      const auto rank = static_cast<std::size_t>(number / 1'000'000 - 1);
      ASSERT_LT(rank, next.size());
      ASSERT_EQ(number % 1'000'000, next[rank]++);
    }
    EXPECT_EQ(next, written);
    EXPECT_EQ(std::accumulate(next.begin(), next.end(), std::int64_t{0}), kCount);
  }
}

TEST_F(Streams, ASeekOfASharedPositionTakesEffectOnAllRanks) {
  const std::string name = make_numbers_file(100);
  on_ranks({3, 0}, [&](const Comm& comm) {
    File file = File::open(name, Mode::kRead, int64_options(100, kHeaderBytes), comm);
    Stream shared(file, StreamMode::kShared);
    Stream barrier(file, StreamMode::kEqual);  // its reads wait for all ranks
    if (comm.rank() == 1) shared.seek(40);
    (void)read(barrier, 0);
    EXPECT_EQ(shared.tell(), 40);
    (void)read(barrier, 0);
    // Reads beyond the end do not affect later seeks.
    if (comm.rank() == 2) {
      EXPECT_EQ(read(shared, 1000), range(40, 60));
      EXPECT_EQ(shared.tell(), 100);
      Numbers unused(1);
      EXPECT_EQ(shared.read(bytes(unused), std::int64_t{1} << 60), 0);
      shared.seek(99);
    }
    (void)read(barrier, 0);
    EXPECT_EQ(shared.tell(), 99);
    (void)read(barrier, 0);
    if (comm.rank() == 0) {
      EXPECT_EQ(read(shared, 5), range(99, 1));
    }
    file.close();
  });
}

TEST_F(Streams, IndependentRequestsDoNotWaitForOtherRanks) {
  const std::string name = make_numbers_file(100);
  for (const StreamMode mode : {StreamMode::kOwn, StreamMode::kShared}) {
    std::atomic<bool> is_done{false};
    on_ranks({2, 0}, [&](const Comm& comm) {
      File file = File::open(name, Mode::kReadWrite, int64_options(100, kHeaderBytes), comm);
      Stream stream(file, mode);
      Stream collective_stream(file, StreamMode::kOrdered);
      if (comm.rank() == 1) {
        // A collective call that the other rank makes only later.
        Numbers later(10);
        StreamRequest pending = collective_stream.start_read(bytes(later), 10);
        EXPECT_EQ(read(stream, 10), range(0, 10));
        stream.seek(50);
        EXPECT_EQ(stream.tell(), 50);
        Numbers local = range(50, 20);
        EXPECT_EQ(stream.start_write(bytes(local), 20).wait(), 20);
        EXPECT_FALSE(pending.test());
        is_done = true;
        EXPECT_EQ(pending.wait(), 10);
        EXPECT_EQ(later, range(5, 10));
      } else {
        while (!is_done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(read(collective_stream, 5), range(0, 5));
      }
      file.close();
    });
  }
}

TEST_F(Streams, NonblockingRequestsRunInOrder) {
  constexpr std::int64_t kCount = 400;
  make_numbers_file(kCount);
  for (const Ranks& ranks : {Ranks{1, 0}, Ranks{3, 0}, Ranks{4, 2}})
    for (const StreamMode mode : {StreamMode::kOwn, StreamMode::kOrdered, StreamMode::kEqual, StreamMode::kSame}) {
      SCOPED_TRACE(describe(ranks) + ", mode " + std::to_string(static_cast<int>(mode)));
      on_ranks(ranks, [&](const Comm& comm) {
        File file = File::open(path(), Mode::kReadWrite, int64_options(kCount, kHeaderBytes), comm);
        Stream stream(file, mode);
        const bool has_parts_by_rank = mode == StreamMode::kOrdered || mode == StreamMode::kEqual;
        const std::int64_t rank_offset = has_parts_by_rank ? 7 * comm.rank() : 0;
        const std::int64_t advance = has_parts_by_rank ? 7 * comm.size() : 7;  // of the position by one request
        std::vector<Numbers> actual(8, Numbers(7));
        std::vector<StreamRequest> requests;
        for (Numbers& part : actual) requests.push_back(stream.start_read(bytes(part), 7));
        EXPECT_EQ(stream.tell(), 8 * advance);
        for (std::size_t i = requests.size(); i-- > 0;) {
          EXPECT_EQ(requests[i].wait(), 7);
          EXPECT_EQ(actual[i], range(static_cast<std::int64_t>(i) * advance + rank_offset, 7));
        }
        // A read after a pending write gets the written elements.
        stream.seek(0);
        Numbers local = range(rank_offset, 7);
        StreamRequest write = stream.start_write(bytes(local), 7);
        stream.seek(0);
        EXPECT_EQ(read(stream, 7), local);
        EXPECT_TRUE(write.test());
        file.close();
        EXPECT_EQ(write.wait(), 7);
      });
    }
}

TEST_F(Streams, AllModesWorkInOneProcess) {
  const std::string name = make_numbers_file(50);
  File file = File::open(name, Mode::kReadWrite, int64_options(50, kHeaderBytes));
  for (int mode = 0; mode < 5; ++mode) {
    Stream stream(file, static_cast<StreamMode>(mode));
    EXPECT_EQ(stream.mode(), static_cast<StreamMode>(mode));
    EXPECT_EQ(read(stream, 20), range(0, 20));
    Numbers next = range(20, 10);
    EXPECT_EQ(stream.start_write(bytes(next), 10).wait(), 10);
    Stream moved = std::move(stream);
    EXPECT_EQ(read(moved, 100), range(30, 20));
    EXPECT_EQ(moved.tell(), 50);
    moved.seek(49);
    Numbers more(2);
    oracle::expect_rejected([&] { moved.write(bytes(more), 2); }, "nothing was written");
    EXPECT_EQ(read(moved, 2), range(49, 1));
  }
  file.close();
}

TEST_F(Streams, StreamsOfAnEmptyArrayTransferNothing) {
  on_ranks({2, 0}, [&](const Comm& comm) {
    File file = File::open(make_numbers_file(0, "empty" + std::to_string(comm.rank())), Mode::kReadWrite,
                           int64_options(0, kHeaderBytes));  // each rank opens its own file, without a communicator
    for (int mode = 0; mode < 5; ++mode) {
      Stream stream(file, static_cast<StreamMode>(mode));
      EXPECT_TRUE(read(stream, 3).empty());
      EXPECT_EQ(stream.write(nullptr, 0), 0);
      stream.seek(0);
      EXPECT_EQ(stream.tell(), 0);
    }
  });
}

}  // namespace
