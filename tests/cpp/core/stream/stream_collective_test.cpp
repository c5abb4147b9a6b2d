// Streams of modes 2, 3 and 4 over ranks that are threads: the guarantees of each mode, with random delays of ranks.
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

/// Checks that no rank returns from a collective request before all ranks have made it.
class ArrivalCounter {
 public:
  void arrive(std::size_t round) { ++arrived_[round]; }
  void expect_all(std::size_t round, int ranks) { EXPECT_EQ(arrived_[round], ranks); }

 private:
  std::array<std::atomic<int>, 64> arrived_{};
};

TEST_F(CollectiveStreams, OrderedReadsFollowEachOtherByRank) {
  constexpr std::int64_t kCount = 700;
  const std::string name = make_numbers_file(kCount);
  for (const Ranks& ranks : all_ranks())
    for (const bool nonblocking : {false, true}) {
      SCOPED_TRACE(describe(ranks));
      ArrivalCounter arrivals;
      on_ranks(ranks, [&](const Comm& comm) {
        RandomDelay common(4, 99);  // gives the same numbers on all ranks
        RandomDelay delay(4, comm.rank());
        File file = File::open(name, Mode::kRead, int64_options(kCount, kHeaderBytes), comm);
        Stream stream(file, StreamMode::kOrdered);
        std::int64_t position = 0;
        for (std::size_t round = 0; round < 12; ++round) {
          std::int64_t before = 0;
          std::int64_t all = 0;
          std::int64_t local = 0;
          for (int rank = 0; rank < comm.size(); ++rank) {
            const std::int64_t read_length = std::max<std::int64_t>(common.random_up_to(60) - 15, 0);
            if (rank < comm.rank()) before += read_length;
            if (rank == comm.rank()) local = read_length;
            all += read_length;
          }
          delay.sleep_randomly();
          arrivals.arrive(round);
          const std::int64_t first = std::min(position + before, kCount);
          const Numbers expected = range(first, std::min(local, kCount - first));
          if (nonblocking) {
            Numbers actual(static_cast<std::size_t>(local));
            StreamRequest request = stream.start_read(bytes(actual), local);
            actual.resize(static_cast<std::size_t>(request.wait()));
            ASSERT_EQ(actual, expected);
          } else {
            ASSERT_EQ(read(stream, local), expected);
          }
          arrivals.expect_all(round, comm.size());
          position = std::min(position + all, kCount);
          ASSERT_EQ(stream.tell(), position);
          if (round == 8) stream.seek(position = 100);
        }
        // The ranks together read more elements than the array has.
        (void)read(stream, comm.rank() == 0 ? kCount : 0);
        Numbers unused(1);
        EXPECT_EQ(stream.read(bytes(unused), std::int64_t{1} << 62), 0);
        file.close();
      });
    }
}

TEST_F(CollectiveStreams, OrderedWritesFollowEachOtherByRank) {
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(describe(ranks));
    // In each round, rank r writes r + round elements.
    constexpr std::int64_t kRounds = 5;
    const std::int64_t each = static_cast<std::int64_t>(ranks.count) * (ranks.count - 1) / 2;
    const std::int64_t count = kRounds * each + ranks.count * kRounds * (kRounds - 1) / 2;
    on_ranks(ranks, [&](const Comm& comm) {
      RandomDelay delay(5, comm.rank());
      File file = File::open(path("new"), Mode::kWrite, int64_options(count, 0), comm);
      Stream stream(file, StreamMode::kOrdered);
      for (std::int64_t round = 0; round < kRounds; ++round) {
        delay.sleep_randomly();
        Numbers local = range(1000 * round + 100 * comm.rank(), comm.rank() + round);
        EXPECT_EQ(stream.write(bytes(local), comm.rank() + round), comm.rank() + round);
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
    for (std::int64_t round = 0; round < kRounds; ++round)
      for (int rank = 0; rank < ranks.count; ++rank)
        for (const std::int64_t number : range(1000 * round + 100 * rank, rank + round)) expected.push_back(number);
    EXPECT_EQ(content("new", 0), expected);
  }
}

TEST_F(CollectiveStreams, EqualReadsFollowEachOtherByRank) {
  constexpr std::int64_t kCount = 500;
  make_numbers_file(kCount);
  for (const Ranks& ranks : all_ranks()) {
    SCOPED_TRACE(describe(ranks));
    ArrivalCounter arrivals;
    on_ranks(ranks, [&](const Comm& comm) {
      RandomDelay common(6, 99);
      RandomDelay delay(6, comm.rank());
      File file = File::open(path(), Mode::kReadWrite, int64_options(kCount, kHeaderBytes), comm);
      Stream stream(file, StreamMode::kEqual);
      std::int64_t position = 0;
      for (std::size_t round = 0; round < 10; ++round) {
        const std::int64_t each = common.random_up_to(60);
        delay.sleep_randomly();
        arrivals.arrive(round);
        const std::int64_t first = std::min(position + each * comm.rank(), kCount);
        ASSERT_EQ(read(stream, each), range(first, std::min(each, kCount - first)));
        arrivals.expect_all(round, comm.size());
        position = std::min(position + each * comm.size(), kCount);
        ASSERT_EQ(stream.tell(), position);
      }
      stream.seek(3);
      // Unequal lengths are an error on every rank, and the position stays.
      if (comm.size() > 1) {
        Numbers numbers(static_cast<std::size_t>(comm.size()));
        for (const bool write : {false, true})
          oracle::expect_rejected(
              [&] {
                const std::int64_t length = comm.rank() == comm.size() - 1 ? 1 : 2;
                write ? stream.write(bytes(numbers), length) : stream.read(bytes(numbers), length);
              },
              "the ranks of a collective call differ: rank 0 calls");
        EXPECT_EQ(stream.tell(), 3);
      }
      // If not all elements fit, nothing is written.
      const std::int64_t too_many = (kCount - 3) / comm.size() + 1;
      Numbers local = range(-100, too_many);
      oracle::expect_rejected([&] { stream.write(bytes(local), too_many); },
                              "the array ends at 500; nothing was written");
      EXPECT_EQ(stream.tell(), 3);
      local = range(3 + 5 * comm.rank(), 5);
      EXPECT_EQ(stream.write(bytes(local), 5), 5);
      EXPECT_EQ(stream.tell(), 3 + 5 * comm.size());
      file.close();
    });
    ASSERT_EQ(content("a", kHeaderBytes), range(0, kCount));
  }
}

TEST_F(CollectiveStreams, AllRanksReadTheSameElements) {
  constexpr std::int64_t kCount = 1000;
  make_numbers_file(kCount);
  for (const Ranks& ranks : all_ranks())
    for (const std::int64_t memory : {0, 1, 96, 4096}) {
      SCOPED_TRACE(describe(ranks) + ", memory " + std::to_string(memory));
      ArrivalCounter arrivals;
      on_ranks(ranks, [&](const Comm& comm) {
        RandomDelay common(7, static_cast<int>(memory));
        RandomDelay delay(7, comm.rank());
        File file = File::open(path(), Mode::kReadWrite, int64_options(kCount, kHeaderBytes, memory), comm);
        Stream stream(file, StreamMode::kSame);
        std::int64_t position = 0;
        for (std::size_t round = 0; round < 6; ++round) {
          const std::int64_t read_length = common.random_up_to(250);
          delay.sleep_randomly();
          arrivals.arrive(round);
          const Numbers expected = range(position, std::min(read_length, kCount - position));
          ASSERT_EQ(read(stream, read_length), expected);
          arrivals.expect_all(round, comm.size());
          position += static_cast<std::int64_t>(expected.size());
          ASSERT_EQ(stream.tell(), position);
        }
        // Only the data of rank 0 is written; the other ranks need not pass any.
        stream.seek(10);
        Numbers local = range(10, 20);
        EXPECT_EQ(stream.write(comm.rank() == 0 ? bytes(local) : nullptr, 20), 20);
        EXPECT_EQ(stream.tell(), 30);
        if (comm.size() > 1)
          oracle::expect_rejected([&] { stream.write(bytes(local), comm.rank() == 0 ? 5 : 6); },
                                  "calls write(5 elements)");
        oracle::expect_rejected([&] { stream.write(bytes(local), kCount); }, "nothing was written");
        EXPECT_EQ(stream.tell(), 30);
        file.close();
      });
      ASSERT_EQ(content("a", kHeaderBytes), range(0, kCount));
    }
}

}  // namespace
