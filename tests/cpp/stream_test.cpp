// Streams over ranks that are threads: what each mode guarantees, whenever the ranks come.
#include "plait/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
  const std::string name = numbered(kCount);
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(print(ranks));
    on_ranks(ranks, [&](const Comm& comm) {
      Dawdler random(1, comm.rank());
      File file = File::open(name, Mode::kRead, whole_numbers(kCount, kHead), comm);
      Stream stream(file, StreamMode::kOwn);
      EXPECT_EQ(stream.tell(), 0);
      std::int64_t position = 0;
      const std::int64_t steps = random.upto(30);  // ranks make as many requests as they like
      for (int step = 0; step < steps; ++step) {
        random.dawdle();
        if (random.upto(2) == 0) stream.seek(position = random.upto(kCount));
        const std::int64_t wanted = random.upto(100);
        const std::int64_t expected = std::min(wanted, kCount - position);
        ASSERT_EQ(read(stream, wanted), range(position, expected));
        position += expected;
        ASSERT_EQ(stream.tell(), position);
      }
      file.close();
    });
  }
}

TEST_F(Streams, OwnWritesLandAtTheirPositions) {
  constexpr std::int64_t kEach = 40;
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(print(ranks));
    const std::int64_t count = kEach * ranks.count;
    numbered(count);
    on_ranks(ranks, [&](const Comm& comm) {
      File file = File::open(path(), Mode::kReadWrite, whole_numbers(count, kHead), comm);
      Stream stream(file, StreamMode::kOwn);
      stream.seek(comm.rank() * kEach);
      Numbers mine = range(1000 * (comm.rank() + 1), kEach);
      EXPECT_EQ(stream.write(bytes(mine), kEach), kEach);
      // The same rank finds at once what it wrote.
      stream.seek(comm.rank() * kEach);
      EXPECT_EQ(read(stream, kEach), mine);
      file.close();
    });
    const Numbers found = content("a", kHead);
    for (std::int64_t i = 0; i < count; ++i)
      ASSERT_EQ(found[static_cast<std::size_t>(i)], 1000 * (i / kEach + 1) + i % kEach);
  }
}

TEST_F(Streams, ASharedPositionHandsOutEachElementOnce) {
  constexpr std::int64_t kCount = 3000;
  const std::string name = numbered(kCount);
  for (const Ranks& ranks : all_ranks())
    for (const bool started : {false, true}) {
      SCOPED_TRACE(print(ranks));
      std::mutex mutex;
      std::vector<Numbers> stretches;
      on_ranks(ranks, [&](const Comm& comm) {
        Dawdler random(2, comm.rank());
        File file = File::open(name, Mode::kRead, whole_numbers(kCount, kHead), comm);
        Stream stream(file, StreamMode::kShared);
        while (true) {
          random.dawdle();
          Numbers found;
          const std::int64_t wanted = 1 + random.upto(30);
          if (started) {
            found.resize(static_cast<std::size_t>(wanted));
            StreamRequest request = stream.start_read(bytes(found), wanted);
            random.dawdle();
            found.resize(static_cast<std::size_t>(request.wait()));
          } else {
            found = read(stream, wanted);
          }
          const std::scoped_lock lock(mutex);
          if (found.empty()) break;
          stretches.push_back(found);
        }
        EXPECT_EQ(stream.tell(), kCount);
        EXPECT_TRUE(read(stream, 5).empty());
        file.close();
      });
      std::sort(stretches.begin(), stretches.end());
      std::int64_t next = 0;
      for (const Numbers& stretch : stretches) {
        ASSERT_EQ(stretch, range(next, static_cast<std::int64_t>(stretch.size())));
        next += static_cast<std::int64_t>(stretch.size());
      }
      EXPECT_EQ(next, kCount);
    }
}

TEST_F(Streams, ASharedPositionTakesEachWriteOnce) {
  constexpr std::int64_t kCount = 2000;
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(print(ranks));
    std::filesystem::remove(path("new"));
    std::vector<std::int64_t> written(static_cast<std::size_t>(ranks.count));
    on_ranks(ranks, [&](const Comm& comm) {
      Dawdler random(3, comm.rank());
      File file = File::open(path("new"), Mode::kWrite, whole_numbers(kCount, 0), comm);
      Stream stream(file, StreamMode::kShared);
      std::int64_t& mine = written[static_cast<std::size_t>(comm.rank())];
      std::int64_t length = 1 + random.upto(30);
      while (length > 0) {
        random.dawdle();
        Numbers numbers = range((comm.rank() + 1) * 1'000'000 + mine, length);
        try {
          mine += stream.write(bytes(numbers), length);
          length = 1 + random.upto(30);
        } catch (const plait::Error& error) {
          ASSERT_EQ(error.kind(), plait::ErrorKind::kArgument);
          length = length == 1 ? 0 : length / 2;  // what is left may still take less
        }
      }
      EXPECT_EQ(stream.tell(), kCount);
      EXPECT_FALSE(std::filesystem::exists(path("new")));
      file.close();
    });
    // Each rank's numbers are there, once and in the order in which it wrote them.
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

TEST_F(Streams, ASharedSeekTakesEffectForAll) {
  const std::string name = numbered(100);
  on_ranks({3, 0}, [&](const Comm& comm) {
    File file = File::open(name, Mode::kRead, whole_numbers(100, kHead), comm);
    Stream shared(file, StreamMode::kShared);
    Stream meet(file, StreamMode::kEqual);
    if (comm.rank() == 1) shared.seek(40);
    (void)read(meet, 0);
    EXPECT_EQ(shared.tell(), 40);
    (void)read(meet, 0);
    // Reads beyond the end and back leave nothing behind.
    if (comm.rank() == 2) {
      EXPECT_EQ(read(shared, 1000), range(40, 60));
      EXPECT_EQ(shared.tell(), 100);
      Numbers nothing(1);
      EXPECT_EQ(shared.read(bytes(nothing), std::int64_t{1} << 60), 0);
      shared.seek(99);
    }
    (void)read(meet, 0);
    EXPECT_EQ(shared.tell(), 99);
    (void)read(meet, 0);
    if (comm.rank() == 0) {
      EXPECT_EQ(read(shared, 5), range(99, 1));
    }
    file.close();
  });
}

TEST_F(Streams, IndependentRequestsWaitForNobody) {
  const std::string name = numbered(100);
  for (const StreamMode mode : {StreamMode::kOwn, StreamMode::kShared}) {
    std::atomic<bool> through{false};
    on_ranks({2, 0}, [&](const Comm& comm) {
      File file = File::open(name, Mode::kReadWrite, whole_numbers(100, kHead), comm);
      Stream stream(file, mode);
      Stream together(file, StreamMode::kOrdered);
      if (comm.rank() == 1) {
        // A collective that the other rank has not come to yet.
        Numbers later(10);
        StreamRequest pending = together.start_read(bytes(later), 10);
        EXPECT_EQ(read(stream, 10), range(0, 10));
        stream.seek(50);
        EXPECT_EQ(stream.tell(), 50);
        Numbers mine = range(50, 20);
        EXPECT_EQ(stream.start_write(bytes(mine), 20).wait(), 20);
        EXPECT_FALSE(pending.test());
        through = true;
        EXPECT_EQ(pending.wait(), 10);
        EXPECT_EQ(later, range(5, 10));
      } else {
        while (!through) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(read(together, 5), range(0, 5));
      }
      file.close();
    });
  }
}

/// Ranks that are in a request come out only when all have come to it.
class Meeting {
 public:
  void come(std::size_t step) { ++arrived_[step]; }
  void expect_all(std::size_t step, int ranks) { EXPECT_EQ(arrived_[step], ranks); }

 private:
  std::array<std::atomic<int>, 64> arrived_{};
};

TEST_F(Streams, OrderedStretchesFollowEachOtherByRank) {
  constexpr std::int64_t kCount = 700;
  const std::string name = numbered(kCount);
  for (const Ranks& ranks : all_ranks())
    for (const bool started : {false, true}) {
      SCOPED_TRACE(print(ranks));
      Meeting meeting;
      on_ranks(ranks, [&](const Comm& comm) {
        Dawdler common(4, 99);  // the same on all ranks
        Dawdler own(4, comm.rank());
        File file = File::open(name, Mode::kRead, whole_numbers(kCount, kHead), comm);
        Stream stream(file, StreamMode::kOrdered);
        std::int64_t position = 0;
        for (std::size_t step = 0; step < 12; ++step) {
          std::int64_t before = 0;
          std::int64_t all = 0;
          std::int64_t mine = 0;
          for (int rank = 0; rank < comm.size(); ++rank) {
            const std::int64_t wanted = std::max<std::int64_t>(common.upto(60) - 15, 0);
            if (rank < comm.rank()) before += wanted;
            if (rank == comm.rank()) mine = wanted;
            all += wanted;
          }
          own.dawdle();
          meeting.come(step);
          const std::int64_t first = std::min(position + before, kCount);
          const Numbers expected = range(first, std::min(mine, kCount - first));
          if (started) {
            Numbers found(static_cast<std::size_t>(mine));
            StreamRequest request = stream.start_read(bytes(found), mine);
            found.resize(static_cast<std::size_t>(request.wait()));
            ASSERT_EQ(found, expected);
          } else {
            ASSERT_EQ(read(stream, mine), expected);
          }
          meeting.expect_all(step, comm.size());
          position = std::min(position + all, kCount);
          ASSERT_EQ(stream.tell(), position);
          if (step == 8) stream.seek(position = 100);
        }
        // More than there are numbers together.
        (void)read(stream, comm.rank() == 0 ? kCount : 0);
        Numbers nothing(1);
        EXPECT_EQ(stream.read(bytes(nothing), std::int64_t{1} << 62), 0);
        file.close();
      });
    }
}

TEST_F(Streams, OrderedWritesFollowEachOtherByRank) {
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(print(ranks));
    // Rank r writes r + step elements in each step.
    constexpr std::int64_t kSteps = 5;
    const std::int64_t each = static_cast<std::int64_t>(ranks.count) * (ranks.count - 1) / 2;
    const std::int64_t count = kSteps * each + ranks.count * kSteps * (kSteps - 1) / 2;
    on_ranks(ranks, [&](const Comm& comm) {
      Dawdler own(5, comm.rank());
      File file = File::open(path("new"), Mode::kWrite, whole_numbers(count, 0), comm);
      Stream stream(file, StreamMode::kOrdered);
      for (std::int64_t step = 0; step < kSteps; ++step) {
        own.dawdle();
        Numbers mine = range(1000 * step + 100 * comm.rank(), comm.rank() + step);
        EXPECT_EQ(stream.write(bytes(mine), comm.rank() + step), comm.rank() + step);
      }
      EXPECT_EQ(stream.tell(), count);
      Numbers more(1);
      EXPECT_EQ(stream.write(bytes(more), 0), 0);
      oracle::expect_refused([&] { stream.write(bytes(more), comm.rank() == 0 ? 1 : 0); },
                             "the ranks' 1 elements cannot be written from element");
      EXPECT_EQ(stream.tell(), count);
      file.close();
    });
    Numbers expected;
    for (std::int64_t step = 0; step < kSteps; ++step)
      for (int rank = 0; rank < ranks.count; ++rank)
        for (const std::int64_t number : range(1000 * step + 100 * rank, rank + step)) expected.push_back(number);
    EXPECT_EQ(content("new", 0), expected);
  }
}

TEST_F(Streams, EqualStretchesFollowEachOtherByRank) {
  constexpr std::int64_t kCount = 500;
  numbered(kCount);
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(print(ranks));
    Meeting meeting;
    on_ranks(ranks, [&](const Comm& comm) {
      Dawdler common(6, 99);
      Dawdler own(6, comm.rank());
      File file = File::open(path(), Mode::kReadWrite, whole_numbers(kCount, kHead), comm);
      Stream stream(file, StreamMode::kEqual);
      std::int64_t position = 0;
      for (std::size_t step = 0; step < 10; ++step) {
        const std::int64_t each = common.upto(60);
        own.dawdle();
        meeting.come(step);
        const std::int64_t first = std::min(position + each * comm.rank(), kCount);
        ASSERT_EQ(read(stream, each), range(first, std::min(each, kCount - first)));
        meeting.expect_all(step, comm.size());
        position = std::min(position + each * comm.size(), kCount);
        ASSERT_EQ(stream.tell(), position);
      }
      stream.seek(3);
      // Unequal lengths: refused on every rank, and the position stays.
      if (comm.size() > 1) {
        Numbers some(static_cast<std::size_t>(comm.size()));
        for (const bool write : {false, true})
          oracle::expect_refused(
              [&] {
                const std::int64_t length = comm.rank() == comm.size() - 1 ? 1 : 2;
                write ? stream.write(bytes(some), length) : stream.read(bytes(some), length);
              },
              "the ranks of a collective call differ: rank 0 calls");
        EXPECT_EQ(stream.tell(), 3);
      }
      // Not all of it fits: nothing is written.
      const std::int64_t too_many = (kCount - 3) / comm.size() + 1;
      Numbers mine = range(-100, too_many);
      oracle::expect_refused([&] { stream.write(bytes(mine), too_many); },
                             "the array ends at 500; nothing was written");
      EXPECT_EQ(stream.tell(), 3);
      mine = range(3 + 5 * comm.rank(), 5);
      EXPECT_EQ(stream.write(bytes(mine), 5), 5);
      EXPECT_EQ(stream.tell(), 3 + 5 * comm.size());
      file.close();
    });
    ASSERT_EQ(content("a", kHead), range(0, kCount));
  }
}

TEST_F(Streams, AllRanksReadTheSame) {
  constexpr std::int64_t kCount = 1000;
  numbered(kCount);
  for (const Ranks& ranks : all_ranks())
    for (const std::int64_t memory : {0, 1, 96, 4096}) {
      SCOPED_TRACE(print(ranks) + ", memory " + std::to_string(memory));
      Meeting meeting;
      on_ranks(ranks, [&](const Comm& comm) {
        Dawdler common(7, static_cast<int>(memory));
        Dawdler own(7, comm.rank());
        File file = File::open(path(), Mode::kReadWrite, whole_numbers(kCount, kHead, memory), comm);
        Stream stream(file, StreamMode::kSame);
        std::int64_t position = 0;
        for (std::size_t step = 0; step < 6; ++step) {
          const std::int64_t wanted = common.upto(250);
          own.dawdle();
          meeting.come(step);
          const Numbers expected = range(position, std::min(wanted, kCount - position));
          ASSERT_EQ(read(stream, wanted), expected);
          meeting.expect_all(step, comm.size());
          position += static_cast<std::int64_t>(expected.size());
          ASSERT_EQ(stream.tell(), position);
        }
        // The data of rank 0 is written; the others need not have any.
        stream.seek(10);
        Numbers mine = range(10, 20);
        EXPECT_EQ(stream.write(comm.rank() == 0 ? bytes(mine) : nullptr, 20), 20);
        EXPECT_EQ(stream.tell(), 30);
        if (comm.size() > 1)
          oracle::expect_refused([&] { stream.write(bytes(mine), comm.rank() == 0 ? 5 : 6); },
                                 "calls write(5 elements)");
        oracle::expect_refused([&] { stream.write(bytes(mine), kCount); }, "nothing was written");
        EXPECT_EQ(stream.tell(), 30);
        file.close();
      });
      ASSERT_EQ(content("a", kHead), range(0, kCount));
    }
}

TEST_F(Streams, StartedRequestsKeepTheirOrder) {
  constexpr std::int64_t kCount = 400;
  numbered(kCount);
  for (const Ranks& ranks : {Ranks{1, 0}, Ranks{3, 0}, Ranks{4, 2}})
    for (const StreamMode mode : {StreamMode::kOwn, StreamMode::kOrdered, StreamMode::kEqual, StreamMode::kSame}) {
      SCOPED_TRACE(print(ranks) + ", mode " + std::to_string(static_cast<int>(mode)));
      on_ranks(ranks, [&](const Comm& comm) {
        File file = File::open(path(), Mode::kReadWrite, whole_numbers(kCount, kHead), comm);
        Stream stream(file, mode);
        const bool dealt = mode == StreamMode::kOrdered || mode == StreamMode::kEqual;
        const std::int64_t lane = dealt ? 7 * comm.rank() : 0;
        const std::int64_t step = dealt ? 7 * comm.size() : 7;
        std::vector<Numbers> found(8, Numbers(7));
        std::vector<StreamRequest> requests;
        for (Numbers& one : found) requests.push_back(stream.start_read(bytes(one), 7));
        EXPECT_EQ(stream.tell(), 8 * step);
        for (std::size_t i = requests.size(); i-- > 0;) {
          EXPECT_EQ(requests[i].wait(), 7);
          EXPECT_EQ(found[i], range(static_cast<std::int64_t>(i) * step + lane, 7));
        }
        // A write and the read behind it.
        stream.seek(0);
        Numbers mine = range(lane, 7);
        StreamRequest write = stream.start_write(bytes(mine), 7);
        stream.seek(0);
        EXPECT_EQ(read(stream, 7), mine);
        EXPECT_TRUE(write.test());
        file.close();
        EXPECT_EQ(write.wait(), 7);
      });
    }
}

TEST_F(Streams, OneProcessAloneHasAllModes) {
  const std::string name = numbered(50);
  File file = File::open(name, Mode::kReadWrite, whole_numbers(50, kHead));
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
    oracle::expect_refused([&] { moved.write(bytes(more), 2); }, "nothing was written");
    EXPECT_EQ(read(moved, 2), range(49, 1));
  }
  file.close();
}

TEST_F(Streams, AnEmptyArrayHasOnlyItsEnd) {
  on_ranks({2, 0}, [&](const Comm& comm) {
    File file = File::open(numbered(0, "empty" + std::to_string(comm.rank())), Mode::kReadWrite,
                           whole_numbers(0, kHead));  // each rank its own file, alone
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
