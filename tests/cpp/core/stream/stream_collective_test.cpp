// Streams of modes 2, 3 and 4 over ranks that are threads: what each guarantees, whenever the ranks come.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "oracle.hpp"
#include "plait/stream.hpp"
#include "stream_case.hpp"

namespace {

using namespace stream_case;
using plait::Comm;
using plait::File;
using plait::Mode;
using plait::Stream;
using plait::StreamMode;
using plait::StreamRequest;

class CollectiveStreams : public StreamFolder {};

/// Ranks that are in a request come out only when all have come to it.
class Meeting {
 public:
  void come(std::size_t step) { ++arrived_[step]; }
  void expect_all(std::size_t step, int ranks) { EXPECT_EQ(arrived_[step], ranks); }

 private:
  std::array<std::atomic<int>, 64> arrived_{};
};

TEST_F(CollectiveStreams, OrderedStretchesFollowEachOtherByRank) {
  constexpr std::int64_t kCount = 700;
  const std::string name = numbered(kCount);
  for (const Ranks& ranks : all_ranks())
    for (const bool started : {false, true}) {
      SCOPED_TRACE(print(ranks));
      Meeting meeting;
      on_ranks(ranks, [&](const Comm& comm) {
        RandomDelay common(4, 99);  // the same on all ranks
        RandomDelay own(4, comm.rank());
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

TEST_F(CollectiveStreams, OrderedWritesFollowEachOtherByRank) {
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(print(ranks));
    // Rank r writes r + step elements in each step.
    constexpr std::int64_t kSteps = 5;
    const std::int64_t each = static_cast<std::int64_t>(ranks.count) * (ranks.count - 1) / 2;
    const std::int64_t count = kSteps * each + ranks.count * kSteps * (kSteps - 1) / 2;
    on_ranks(ranks, [&](const Comm& comm) {
      RandomDelay own(5, comm.rank());
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
      oracle::expect_rejected([&] { stream.write(bytes(more), comm.rank() == 0 ? 1 : 0); },
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

TEST_F(CollectiveStreams, EqualStretchesFollowEachOtherByRank) {
  constexpr std::int64_t kCount = 500;
  numbered(kCount);
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(print(ranks));
    Meeting meeting;
    on_ranks(ranks, [&](const Comm& comm) {
      RandomDelay common(6, 99);
      RandomDelay own(6, comm.rank());
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
          oracle::expect_rejected(
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
      oracle::expect_rejected([&] { stream.write(bytes(mine), too_many); },
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

TEST_F(CollectiveStreams, AllRanksReadTheSame) {
  constexpr std::int64_t kCount = 1000;
  numbered(kCount);
  for (const Ranks& ranks : all_ranks())
    for (const std::int64_t memory : {0, 1, 96, 4096}) {
      SCOPED_TRACE(print(ranks) + ", memory " + std::to_string(memory));
      Meeting meeting;
      on_ranks(ranks, [&](const Comm& comm) {
        RandomDelay common(7, static_cast<int>(memory));
        RandomDelay own(7, comm.rank());
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
          oracle::expect_rejected([&] { stream.write(bytes(mine), comm.rank() == 0 ? 5 : 6); },
                                  "calls write(5 elements)");
        oracle::expect_rejected([&] { stream.write(bytes(mine), kCount); }, "nothing was written");
        EXPECT_EQ(stream.tell(), 30);
        file.close();
      });
      ASSERT_EQ(content("a", kHead), range(0, kCount));
    }
}

}  // namespace
