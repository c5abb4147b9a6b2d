// Which departed rank an error names: the one that has made the fewest calls, even if it was not the first to leave.
#include "transport/shared_memory/departure.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "plait/error.hpp"
#include "transport/shared_memory/group.hpp"

namespace {

using plait::Error;
using plait::transport::shared_memory::Departure;
using plait::transport::shared_memory::DepartureRecord;
using plait::transport::shared_memory::Progress;

DepartureRecord make_record(std::int64_t worker, std::int64_t calls, std::string_view why = "has left the program") {
  DepartureRecord result;
  result.worker = worker;
  result.calls = calls;
  set_reason(result, {why});
  return result;
}

/// Records that a rank has completed `calls` agreements and is in none.
void make_calls(Progress& progress, int calls) {
  for (int call = 0; call < calls; ++call) {
    progress.begin();
    progress.end();
  }
}

/// Returns the error of a worker that has made `calls` calls; "" if it can continue, because the departed ranks have
/// done their parts of its next call.
std::string error_text(std::span<const Departure> departures, int calls) {
  Progress progress;
  make_calls(progress, calls);
  DepartureRecord first;
  try {
    if (find_fewest(departures, first)) check(first, progress);
  } catch (const Error& error) {
    EXPECT_EQ(error.system_code(), EOWNERDEAD);
    return error.what();
  }
  return {};
}

TEST(Departure, NoRankHasLeftAtFirst) {
  const std::array<Departure, 3> departures{};
  DepartureRecord actual;
  EXPECT_FALSE(departures[0].load(actual));
  EXPECT_FALSE(find_fewest(departures, actual));
  EXPECT_EQ(error_text(departures, 7), "");
}

TEST(Departure, ARankThatLeavesBecauseAnotherHasLeftNamesTheOther) {
  std::array<Departure, 3> departures;
  departures[1].record(make_record(1, 4));
  Progress progress;
  make_calls(progress, 4);
  DepartureRecord first;
  ASSERT_TRUE(find_fewest(departures, first));
  EXPECT_THROW(check(first, progress, departures[0]), Error);
  departures[0].record(make_record(0, progress.calls()));
  EXPECT_EQ(error_text(departures, 4), "rank 1 has left the program; nothing more can be done together");
}

TEST(Departure, ARankThatLeavesBecauseAnotherHasEndedNamesTheOther) {
  std::array<Departure, 3> departures{};
  Progress progress;
  make_calls(progress, 2);
  EXPECT_THROW(check_ended(2, progress, departures[1]), Error);
  // The record of rank 1 itself comes later and does not replace the record of rank 2.
  departures[1].record(make_record(1, 2));
  EXPECT_EQ(error_text(departures, 2), "rank 2 has ended during a collective call; nothing more can be done together");
}

TEST(Departure, ARankThatLeavesBeforeItNeedsTheOtherNamesItself) {
  std::array<Departure, 3> departures;
  departures[1].record(make_record(1, 4));
  Progress progress;
  make_calls(progress, 3);
  DepartureRecord first;
  ASSERT_TRUE(find_fewest(departures, first));
  check(first, progress, departures[0]);
  departures[0].record(make_record(0, progress.calls()));
  EXPECT_EQ(error_text(departures, 4), "rank 0 has left the program; nothing more can be done together");
}

TEST(Departure, TheRecordWithTheFewestCallsIsNotReplaced) {
  Departure departure;
  departure.record(make_record(1, 8));
  departure.record(make_record(2, 5));
  departure.record(make_record(3, 6));
  DepartureRecord actual;
  ASSERT_TRUE(departure.load(actual));
  EXPECT_EQ(actual.worker, 2);
  EXPECT_EQ(actual.calls, 5);
  EXPECT_STREQ(actual.why.data(), "has left the program");
}

TEST(Departure, TheFirstOfEqualRecordsIsNotReplaced) {
  Departure departure;
  departure.record(make_record(1, 5, "has left the program (KeyError)"));
  departure.record(make_record(1, 5));
  DepartureRecord actual;
  ASSERT_TRUE(departure.load(actual));
  EXPECT_STREQ(actual.why.data(), "has left the program (KeyError)");
}

TEST(Departure, ALaterDepartureWithFewerCallsIsNoticed) {
  std::array<Departure, 4> departures{};
  departures[1].record(make_record(1, 6));
  EXPECT_EQ(error_text(departures, 5), "") << "worker 1 has done its part of call 6";
  departures[3].record(make_record(3, 5));
  EXPECT_NE(error_text(departures, 5).find("rank 3 has left the program; nothing more"), std::string::npos);
  EXPECT_EQ(error_text(departures, 4), "") << "both have done their parts of call 5";
}

TEST(Departure, AFailedCallIsNotCounted) {
  Progress progress;
  make_calls(progress, 4);
  progress.begin();
  EXPECT_EQ(progress.calls(), 5);
  progress.fail();
  EXPECT_EQ(progress.calls(), 4);
}

TEST(Departure, RecordsAreReadAsAWhole) {
  Departure departure;
  std::atomic<bool> done{false};
  std::atomic<int> wrong_reads{0};
  const auto read_repeatedly = [&] {
    std::int64_t previous_calls = 1000;
    while (!done) {
      DepartureRecord actual;
      if (!departure.load(actual)) continue;
      const std::string number = std::to_string(actual.calls);
      if (actual.worker != actual.calls || actual.why.data() != number || actual.calls > previous_calls) ++wrong_reads;
      previous_calls = actual.calls;
    }
  };
  // Records departures with ever fewer calls.
  const auto record_all = [&](int from) {
    for (int calls = from; calls > 0; calls -= 2) departure.record(make_record(calls, calls, std::to_string(calls)));
  };
  std::thread reader(read_repeatedly);
  std::thread even(record_all, 1000);
  std::thread odd(record_all, 999);
  even.join();
  odd.join();
  done = true;
  reader.join();
  EXPECT_EQ(wrong_reads, 0);
  DepartureRecord actual;
  ASSERT_TRUE(departure.load(actual));
  EXPECT_EQ(actual.calls, 1);
}

TEST(Departure, AControlBlockHasARecordForEachMember) {
  using plait::transport::shared_memory::control_bytes;
  constexpr int kMembers = 3;
  const auto bytes = static_cast<std::size_t>(control_bytes(kMembers));
  ASSERT_EQ(bytes % 64, 0U);
  const std::unique_ptr<std::byte, decltype(&std::free)> control(static_cast<std::byte*>(std::aligned_alloc(64, bytes)),
                                                                 &std::free);
  std::memset(control.get(), 0, bytes);
  std::vector<plait::transport::shared_memory::Group> members;
  for (int rank = 0; rank < kMembers; ++rank) members.emplace_back(control.get(), rank, kMembers, nullptr);
  members[2].departure().record(make_record(7, 3));
  const auto departures = members[0].departures();
  ASSERT_EQ(departures.size(), 3U);
  DepartureRecord actual;
  EXPECT_FALSE(departures[0].load(actual));
  EXPECT_FALSE(departures[1].load(actual));
  ASSERT_TRUE(departures[2].load(actual));
  EXPECT_EQ(actual.worker, 7);
  // The memory for broadcasts follows.
  EXPECT_EQ(reinterpret_cast<const std::byte*>(departures.data() + kMembers) +
                sizeof(plait::transport::shared_memory::Mailbox),
            control.get() + bytes);
  EXPECT_EQ(error_text(departures, 3), error_text(members[1].departures(), 3));
}

}  // namespace
