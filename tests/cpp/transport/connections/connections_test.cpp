// Connections through their own interface, over sockets and a clock that are made up: each event in each state, and the
// bytes that go over sockets.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "connections_case.hpp"

namespace plait::transport::connections {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kMessage(1, 1);
const std::string kLarge(1, 2);
const std::string kLeave(1, 3);

class EachState : public ConnectionsTest {
 protected:
  void enter(char state) {
    if (state == 'P') connections.probe(kFar, now);
    if (state != 'U' && state != 'P' && state != 'G') connections.call(kFar, now);
    if (state == 'T') pass(milliseconds(1001));
    if (state == 'C') comes_out(kFar, 0);
    if (state == 'S') comes_out(kFar, ECONNREFUSED);
    if (state == 'G') ends(calls_here(kFar));
  }

  void happens(const std::string& event) {
    if (event == "call") connections.call(kFar, now);
    if (event == "probe") connections.probe(kFar, now);
    if (event == "hello") caller_ = calls_here(kFar);
    if (event == "connected") comes_out(kFar, 0);
    if (event == "refused") comes_out(kFar, ECONNREFUSED);
    if (event == "hung up") {  // between its answer and the first bytes
      sockets.has_room = false;
      comes_out(kFar, 0);
      sockets.has_room = true;
    }
    if (event == "waited") pass(milliseconds(1001));
    if (event == "unanswered")
      for (int i = 0; i < 20; ++i) pass(seconds(1));
    if (event == "heard") connections.heard_from(kFar);
    if (event == "away") {
      connections.call(kOther, now);
      comes_out(kOther, 0);
    }
    if (event == "ended") {
      if (connections.state(kFar) == PeerState::kConnected) return ends(sockets_to(kFar).at(0));
      ends(calls_here(kFar));
    }
    if (event == "caller ended") ends(caller_);
    if (event == "closed") connections.close();
  }

  int caller_ = -1;
};

// For each row, what becomes of a peer of another host in each state.
// clang-format off
struct Row {
  std::vector<std::string> events;
  std::array<std::string_view, 7> after;
};
const std::vector<Row> kTable{
    //                                   U      P      A      T      C      S      G
    {{"call"},                         {"A",   "A",   "A",   "T",   "C",   "S",   "G"}},
    {{"probe"},                        {"P",   "P",   "A",   "T",   "C",   "S",   "G"}},
    {{"hello"},                        {"U",   "P",   "T+",  "T",   "C",   "S",   "G"}},
    {{"hello", "call"},                {"U",   "T",   "T+",  "T",   "C",   "S",   "G"}},
    {{"connected"},                    {"U",   "C",   "C+",  "C",   "C",   "S",   "G"}},
    {{"refused"},                      {"U",   "U",   "S+",  "S",   "C",   "S",   "G"}},
    {{"away", "refused"},              {"U",   "U",   "G!",  "G!",  "C",   "S",   "G"}},
    {{"away", "heard", "refused"},     {"U",   "U",   "G!",  "G!",  "C",   "S",   "G"}},
    {{"away", "hello", "refused"},     {"U",   "U",   "S+",  "S",   "C",   "S",   "G"}},
    {{"hung up"},                      {"U",   "U",   "S+",  "S",   "C",   "S",   "G"}},
    {{"away", "hung up"},              {"U",   "U",   "G!",  "G!",  "C",   "S",   "G"}},
    {{"unanswered"},                   {"U",   "U",   "S+",  "S",   "C",   "S",   "G"}},
    {{"away", "unanswered"},           {"U",   "U",   "G!",  "G!",  "C",   "S",   "G"}},
    {{"away", "heard", "unanswered"},  {"U",   "U",   "S+",  "S",   "C",   "S",   "G"}},
    {{"away", "hello", "unanswered"},  {"U",   "U",   "S+",  "S",   "C",   "S",   "G"}},
    {{"waited"},                       {"U",   "P",   "T+",  "T",   "C",   "S",   "G"}},
    {{"away", "waited"},               {"U",   "P",   "A",   "T",   "C",   "S",   "G"}},
    {{"away", "waited", "connected"},  {"U",   "C",   "C+",  "C",   "C",   "S",   "G"}},
    {{"ended"},                        {"G!",  "G!",  "G+!", "G!",  "G!",  "G!",  "G!"}},
    {{"hello", "caller ended"},        {"G!",  "G!",  "G+!", "G!",  "G!",  "G!",  "G!"}},
    {{"hello", "caller ended", "call"}, {"G!", "G!",  "G+!", "G!",  "G!",  "G!",  "G!"}},
    {{"closed"},                       {"G",   "G",   "G",   "G",   "G",   "G",   "G"}},
    {{"closed", "call"},               {"G",   "G",   "G",   "G",   "G",   "G",   "G"}},
};
// clang-format on

class Rows : public EachState, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(Rows, EachEvent) {
  const Row& row = kTable[GetParam() / 7];
  const char before = "UPATCSG"[GetParam() % 7];
  enter(before);
  ASSERT_EQ(news_of(kFar)[0], before);
  for (const std::string& event : row.events) happens(event);
  EXPECT_EQ(news_of(kFar), row.after[GetParam() % 7]) << "from " << before;
  // A peer is being connected to by one socket in the states that say so, and in no other one.
  std::size_t under_way = 0;
  for (const int socket : sockets_to(kFar)) under_way += sockets.open.at(socket).outcome == EINPROGRESS ? 1 : 0;
  EXPECT_EQ(under_way, connecting(connections.state(kFar)) ? 1U : 0U);
  connections.close();
  EXPECT_TRUE(sockets.open.empty());
}

INSTANTIATE_TEST_SUITE_P(Connections, Rows, ::testing::Range<std::size_t>(0, kTable.size() * 7));

TEST_F(ConnectionsTest, CallsAreToldWhetherTheyCanGo) {
  EXPECT_EQ(connections.call(kFar, now), Reach::kNotYet);
  EXPECT_EQ(connections.call(kFar, now), Reach::kNotYet);
  EXPECT_EQ(connections.call(kUnlisted, now), Reach::kReady);  // by MPI
  EXPECT_EQ(connections.state(kUnlisted), PeerState::kSilent);
  comes_out(kFar, 0);
  EXPECT_EQ(connections.call(kFar, now), Reach::kReady);
  ends(sockets_to(kFar).at(0));
  EXPECT_EQ(connections.call(kFar, now), Reach::kGone);
  EXPECT_EQ(news_of(kFar), "G+!");
}

TEST_F(ConnectionsTest, ProbesOfPeersThatHaveCalledHoldNothingUp) {
  connections.probe(kFar, now);
  calls_here(kFar);
  EXPECT_EQ(connections.call(kFar, now), Reach::kReady);
}

TEST_F(ConnectionsTest, CallsOfProbedPeersWaitFromTheBeginningOfTheProbe) {
  connections.probe(kFar, now);
  pass(milliseconds(700));
  EXPECT_EQ(connections.call(kFar, now), Reach::kNotYet);
  pass(milliseconds(300));
  EXPECT_EQ(news_of(kFar), "A");
  pass(milliseconds(1));
  EXPECT_EQ(news_of(kFar), "T+");
}

TEST_F(ConnectionsTest, NeighboursAreThereAtOnceOrNever) {
  EXPECT_EQ(connections.call(kNear, now), Reach::kReady);
  EXPECT_EQ(news_of(kNear), "C");
  EXPECT_EQ(sockets.open.at(sockets.last).to, "plait-bell-1001");
  EXPECT_EQ(sockets.open.at(sockets.last).sent, hello(1001, 0));

  const auto fresh = [&](auto prepare) {
    FakeSockets own;
    prepare(own);
    Connections others(directory, own);
    const Reach reach = others.call(kNear, now);
    EXPECT_TRUE(others.take_news().empty());  // the caller knows
    EXPECT_TRUE(own.open.empty());
    EXPECT_EQ(others.state(kNear), reach == Reach::kGone ? PeerState::kGone : PeerState::kSilent);
    return reach;
  };
  EXPECT_EQ(fresh([](FakeSockets& own) { own.local_code = ECONNREFUSED; }), Reach::kGone);
  EXPECT_EQ(fresh([](FakeSockets& own) { own.has_room = false; }), Reach::kGone);
  EXPECT_EQ(fresh([](FakeSockets& own) { own.local_code = EMFILE; }), Reach::kReady);
  EXPECT_EQ(fresh([](FakeSockets& own) { own.usable_ = false; }), Reach::kReady);
}

TEST_F(ConnectionsTest, WithoutAnythingToSleepOnCallsGoByMpi) {
  sockets.usable_ = false;
  EXPECT_EQ(connections.call(kFar, now), Reach::kReady);
  EXPECT_EQ(news_of(kFar), "S");
  connections.probe(kOther, now);
  EXPECT_EQ(news_of(kOther), "U");
  EXPECT_TRUE(sockets.tries.empty());
}

TEST_F(ConnectionsTest, WhoCanMakeNoSocketTakesNobodyForLost) {
  connections.call(kOther, now);
  comes_out(kOther, 0);
  sockets.can_make = false;
  connections.call(kFar, now);
  for (int i = 0; i < 15; ++i) pass(seconds(1));
  EXPECT_EQ(news_of(kFar), "A");
  pass(seconds(1));
  EXPECT_EQ(news_of(kFar), "S+");
}

TEST_F(ConnectionsTest, AHostThatDoesNotAnswerIsLostAfterFifteenToTwentySeconds) {
  connections.call(kOther, now);
  comes_out(kOther, 0);
  connections.call(kFar, now);
  const auto began = now;
  while (connections.state(kFar) != PeerState::kGone && now - began < seconds(30)) pass(milliseconds(20));
  EXPECT_EQ(news_of(kFar), "G!");
  EXPECT_GT(now - began, seconds(15));
  EXPECT_LT(now - began, seconds(20));
  EXPECT_EQ(sockets.tries, (std::vector<int>{30, 20, 20, 20, 20}));  // four seconds each
}

TEST_F(ConnectionsTest, AHostThatCannotBeReachedIsTriedAgainEachSecond) {
  sockets.network_code = ENETUNREACH;
  connections.call(kFar, now);
  for (int i = 0; i < 24; ++i) pass(milliseconds(125));
  EXPECT_EQ(sockets.tries.size(), 4U);
  sockets.network_code = EINPROGRESS;
  pass(seconds(1));
  comes_out(kFar, 0);
  EXPECT_EQ(news_of(kFar), "C+");
}

TEST_F(ConnectionsTest, AllAddressesAreTriedBeforeARefusalCounts) {
  auto all = everybody();
  all[kFar].addresses = 2;
  all[kFar].network[1][15] = 21;
  const Directory two(0, all);
  Connections both(two, sockets);
  both.call(kFar, now);
  sockets.open.at(sockets.last).outcome = ECONNREFUSED;  // it may be another host's address here
  both.advance(now);
  EXPECT_EQ(both.state(kFar), PeerState::kAwaited);
  EXPECT_EQ(sockets.tries, (std::vector<int>{20, 21}));
  sockets.open.at(sockets.last).outcome = 0;
  both.advance(now);
  EXPECT_EQ(both.state(kFar), PeerState::kConnected);
}

TEST_F(ConnectionsTest, WhatIsWokenMeanwhileIsWokenByTheFirstConnection) {
  connections.wake(kFar, false);
  connections.wake(kFar, true);
  connections.wake(kFar, false);
  connections.call(kFar, now);
  comes_out(kFar, 0);
  const int socket = sockets_to(kFar).at(0);
  EXPECT_TRUE(sockets.open.at(socket).kept);
  EXPECT_EQ(sockets.open.at(socket).sent, hello(1000 + kFar, 0) + kLarge);
  connections.wake(kFar, false);
  EXPECT_EQ(sockets.open.at(socket).sent, hello(1000 + kFar, 0) + kLarge + kMessage);

  connections.wake(kOther, false);
  const int caller = calls_here(kOther);
  connections.wake(kOther, true);
  EXPECT_EQ(sockets.open.at(caller).sent, kMessage + kLarge);
}

TEST_F(ConnectionsTest, WakeUpsAreCounted) {
  const int caller = calls_here(kFar);
  const Woken few = comes(caller, kMessage + kMessage);
  EXPECT_EQ(few.all, 2);
  EXPECT_FALSE(few.large);
  std::string many;
  for (int i = 0; i < 600; ++i) many += i == 500 ? kLarge : kMessage;
  const Woken all = comes(caller, many);
  EXPECT_EQ(all.all, 600);
  EXPECT_TRUE(all.large);
  EXPECT_EQ(comes(caller, "").all, 0);
  EXPECT_EQ(news_of(kFar), "U");
}

TEST_F(ConnectionsTest, LeavesAreNoWakeUps) {
  const int caller = calls_here(kFar);
  EXPECT_EQ(comes(caller, kMessage + kLeave).all, 1);
  EXPECT_EQ(news_of(kFar), "U");
  ends(caller);
  EXPECT_EQ(news_of(kFar), "G~");
}

TEST_F(ConnectionsTest, EachEndOfTwoConnectionsIsTold) {
  connections.call(kFar, now);
  comes_out(kFar, 0);
  const int caller = calls_here(kFar);
  ends(sockets_to(kFar).at(0));
  EXPECT_EQ(news_of(kFar), "G+!");
  EXPECT_TRUE(connections.there(kFar));  // what is left has not hung up
  connections.wake(kFar, false);
  EXPECT_EQ(sockets.open.at(caller).sent, kMessage);
  ends(caller);
  EXPECT_EQ(news_of(kFar), "G!");
  EXPECT_FALSE(connections.there(kFar));
}

TEST_F(ConnectionsTest, WhoHasHungUpIsNotThere) {
  EXPECT_TRUE(connections.there(kFar));
  connections.call(kFar, now);
  comes_out(kFar, 0);
  EXPECT_TRUE(connections.there(kFar));
  sockets.open.at(sockets_to(kFar).at(0)).over = true;
  EXPECT_FALSE(connections.there(kFar));
}

TEST_F(ConnectionsTest, StrangersAreHungUpOn) {
  for (const std::string& text : {hello(999, kFar), hello(1000, -1), hello(1000, 5), hello(1000, 1LL << 40)}) {
    const int socket = accept();
    comes(socket, text);
    EXPECT_EQ(sockets.open.count(socket), 0U);
  }
  const int silent = accept();
  ends(silent);
  EXPECT_EQ(sockets.open.count(silent), 0U);
  for (int rank = 0; rank < 5; ++rank) EXPECT_EQ(news_of(rank), "U");
}

TEST_F(ConnectionsTest, AHelloMayComeInPieces) {
  const int socket = accept();
  const std::string text = hello(1000, kFar);
  for (const char one : text) EXPECT_EQ(comes(socket, {one}).all, 0);
  EXPECT_EQ(comes(socket, kMessage).all, 1);
  connections.wake(kFar, false);
  EXPECT_EQ(sockets.open.at(socket).sent, kMessage);
}

TEST_F(ConnectionsTest, ClosingTakesLeaveOfAllThatAreConnected) {
  connections.call(kFar, now);
  comes_out(kFar, 0);
  const int called = sockets_to(kFar).at(0);
  const int caller = calls_here(kOther);
  const int unknown = accept();
  connections.call(kOther, now);
  connections.close();
  EXPECT_EQ(sockets.closed.at(called), hello(1000 + kFar, 0) + kLeave);
  EXPECT_EQ(sockets.closed.at(caller), kLeave);
  EXPECT_EQ(sockets.closed.at(unknown), kLeave);
  EXPECT_TRUE(sockets.open.empty());
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(connections.call(rank, now), Reach::kGone);
    EXPECT_FALSE(connections.there(rank));
  }
}

}  // namespace
}  // namespace plait::transport::connections
