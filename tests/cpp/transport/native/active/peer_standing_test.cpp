// What follows from each standing of a rank and each news of it, under all facts, at times that the tests give.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "transport/native/active/peer_standing.hpp"
#include "transport/native/patience.hpp"

namespace plait::transport::native {
namespace {

using std::chrono::milliseconds;

/// U untried, C connecting, A to be connected to again, T connected, G gone; behind it what is to be done, `!`: all are
/// told that the rank is lost.
constexpr std::string_view kLetters = "UCATG";
constexpr std::array<std::string_view, 7> kActs{"", ">", "~", "+", "x", "s", "."};

const Clock::time_point kNow{std::chrono::seconds(1000)};

std::string text_of(const PeerStep& step) {
  std::string text(1, kLetters[static_cast<std::size_t>(step.after.standing)]);
  text += kActs[static_cast<std::size_t>(step.act)];
  return text + (step.tells_loss ? "!" : "");
}

PeerStanding standing(int which) {
  PeerStanding peer;
  peer.standing = static_cast<Standing>(which);
  peer.again = kNow;
  return peer;
}

std::string where(int before, PeerNews news) {
  std::string words = "standing ";
  words += kLetters[static_cast<std::size_t>(before)];
  words += ", news ";
  words += std::to_string(static_cast<int>(news));
  return words;
}

/// The facts under which a row holds; rows of one news together hold under all of them, and no two under the same.
struct Row {
  PeerNews news;
  std::string_view led_away;  // "y", "n" or "*"
  std::string_view calls;
  std::string_view doubted;
  std::array<std::string_view, kStandings> after;  // by the standing before
};

bool holds(const Row& row, const PeerFacts& facts, bool doubted) {
  const auto fits = [](std::string_view wanted, bool fact) { return wanted == "*" || (wanted == "y") == fact; };
  return fits(row.led_away, facts.led_away) && fits(row.calls, facts.calls) && fits(row.doubted, doubted);
}

// clang-format off
const std::vector<Row> kTable{
    //                        away calls doubted U      C       A      T      G
    {PeerNews::kWanted,       "*", "*", "*", {"C>",   "C",    "A",   "T",   "G"}},
    {PeerNews::kTime,         "*", "*", "*", {"U",    "C",    "C>",  "T",   "G"}},
    {PeerNews::kIntroduced,   "*", "n", "*", {"Us",   "Cs",   "As",  "Ts",  "G"}},
    {PeerNews::kIntroduced,   "*", "y", "*", {"U",    "C",    "A",   "T",   "G"}},
    {PeerNews::kReached,      "*", "*", "*", {"U",    "T+",   "A",   "T",   "G"}},
    {PeerNews::kRefusedHere,  "*", "*", "*", {"U",    "G.",   "A",   "T",   "G"}},
    {PeerNews::kRefused,      "n", "*", "*", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerNews::kRefused,      "y", "n", "*", {"U",    "G.!",  "A",   "T",   "G"}},
    {PeerNews::kRefused,      "y", "y", "*", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerNews::kUnanswered,   "n", "*", "*", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerNews::kUnanswered,   "y", "n", "*", {"U",    "G.!",  "A",   "T",   "G"}},
    {PeerNews::kUnanswered,   "y", "y", "n", {"U",    "C>",   "A",   "T",   "G"}},
    {PeerNews::kUnanswered,   "y", "y", "y", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerNews::kUnable,       "*", "*", "*", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerNews::kUntaken,      "*", "*", "*", {"U",    "C",    "A",   "Ux",  "G"}},
    {PeerNews::kUnwelcome,    "*", "*", "*", {"U",    "C",    "A",   "A~",  "G"}},
    {PeerNews::kLeft,         "*", "*", "*", {"G.",   "G.",   "G.",  "G.",  "G"}},
    {PeerNews::kBroken,       "*", "*", "*", {"G.!",  "G.!",  "G.!", "G.!", "G"}},
    {PeerNews::kToldLost,     "*", "*", "*", {"U!",   "C!",   "A!",  "T!",  "G!"}},
};
// clang-format on

const Row& row_of(PeerNews news, const PeerFacts& facts, bool doubted) {
  static const Row none{};
  std::vector<const Row*> rows;
  for (const Row& row : kTable)
    if (row.news == news && holds(row, facts, doubted)) rows.push_back(&row);
  EXPECT_EQ(rows.size(), 1U) << "news " << static_cast<int>(news);
  return rows.empty() ? none : *rows.front();
}

/// Calls `look` with each standing, news and facts, doubted or not, lost or not.
template <typename Look>
void for_all(Look&& look) {
  for (int news = 0; news < kPeerNews; ++news) {
    for (unsigned bits = 0; bits < 16; ++bits) {
      const PeerFacts facts{kNow, (bits & 1U) != 0, (bits & 2U) != 0};
      for (int before = 0; before < kStandings; ++before) {
        PeerStanding peer = standing(before);
        peer.doubted = (bits & 4U) != 0;
        peer.lost = (bits & 8U) != 0;
        look(peer, static_cast<PeerNews>(news), facts);
      }
    }
  }
}

TEST(PeerStanding, EachStepIsThatOfTheTable) {
  for_all([](const PeerStanding& peer, PeerNews news, const PeerFacts& facts) {
    const auto before = static_cast<std::size_t>(peer.standing);
    std::string expected(row_of(news, facts, peer.doubted).after[before]);
    // A loss is told once.
    if (peer.lost && expected.ends_with('!')) expected.pop_back();
    const PeerStep step = next_step(peer, news, facts);
    EXPECT_EQ(text_of(step), expected) << where(static_cast<int>(before), news) << ", away " << facts.led_away
                                       << ", calls " << facts.calls << ", doubted " << peer.doubted;
  });
}

TEST(PeerStanding, NobodyComesBackAndNoLossIsTakenBack) {
  for_all([](const PeerStanding& peer, PeerNews news, const PeerFacts& facts) {
    const PeerStep step = next_step(peer, news, facts);
    if (peer.standing == Standing::kGone) {
      EXPECT_EQ(step.after.standing, Standing::kGone);
      EXPECT_EQ(step.act, PeerAct::kNone);  // what has ended is not ended again
    }
    EXPECT_TRUE(step.after.lost || !peer.lost);
    EXPECT_EQ(step.tells_loss, step.after.lost && !peer.lost);
    EXPECT_EQ(step.act == PeerAct::kEnd, step.after.standing == Standing::kGone && peer.standing != Standing::kGone);
  });
}

/// Calls wait while a rank is being connected to: that goes on, or they are told.
TEST(PeerStanding, NothingWaitsForWhatDoesNotCome) {
  for_all([](const PeerStanding& peer, PeerNews news, const PeerFacts& facts) {
    const PeerStep step = next_step(peer, news, facts);
    const Standing after = step.after.standing;
    const std::string what = where(static_cast<int>(peer.standing), news);
    const bool begins = after == Standing::kConnecting && peer.standing != Standing::kConnecting;
    EXPECT_TRUE(!begins || step.act == PeerAct::kConnect) << what;
    const bool stays = after == peer.standing && step.act != PeerAct::kConnect;
    const bool ended = news >= PeerNews::kReached && news <= PeerNews::kUnable;  // the attempt has
    EXPECT_FALSE(peer.standing == Standing::kConnecting && ended && stays) << what;
    const bool falls_back = after == Standing::kUntried && peer.standing != Standing::kUntried;
    EXPECT_EQ(falls_back, step.act == PeerAct::kFail) << what;
    EXPECT_EQ(after == Standing::kAgain && peer.standing != Standing::kAgain, step.act == PeerAct::kWait) << what;
  });
}

TEST(PeerStanding, ARankThatDoesNotAnswerThoughItCallsIsTriedOnceMore) {
  const PeerFacts facts{kNow, true, true};
  const PeerStep first = next_step(standing(1), PeerNews::kUnanswered, facts);
  EXPECT_EQ(text_of(first), "C>");
  EXPECT_TRUE(first.after.doubted);
  // Its own connection has stayed: it is there, and cannot be reached from here.
  const PeerStep stayed = next_step(first.after, PeerNews::kUnanswered, facts);
  EXPECT_EQ(text_of(stayed), "Ux");
  EXPECT_FALSE(stayed.after.doubted);
  // It has ended meanwhile.
  EXPECT_EQ(text_of(next_step(first.after, PeerNews::kUnanswered, {kNow, true, false})), "G.!");
  // What the next call finds counts anew.
  const PeerStep again = next_step(stayed.after, PeerNews::kWanted, facts);
  EXPECT_EQ(text_of(next_step(again.after, PeerNews::kUnanswered, facts)), "C>");
}

TEST(PeerStanding, OnlyTheAttemptsOwnEndTakesADoubtBack) {
  for_all([](const PeerStanding& peer, PeerNews news, const PeerFacts& facts) {
    const PeerStep step = next_step(peer, news, facts);
    const bool ended = news >= PeerNews::kRefused && news <= PeerNews::kUnable;
    const bool taken_back = ended && step.act == PeerAct::kFail;
    const bool begun = news == PeerNews::kUnanswered && step.act == PeerAct::kConnect;
    EXPECT_EQ(step.after.doubted, (peer.doubted && !taken_back) || begun)
        << where(static_cast<int>(peer.standing), news);
  });
}

TEST(PeerStanding, AConnectionIsMadeAnewTenTimesAndLaterEachTime) {
  PeerStanding peer = standing(3);
  Clock::time_point now = kNow;
  for (int tries = 1; tries <= kMostTries; ++tries) {
    const PeerStep step = next_step(peer, PeerNews::kUnwelcome, {now});
    ASSERT_EQ(text_of(step), "A~");
    ASSERT_EQ(step.after.tries, tries);
    ASSERT_EQ(step.after.again, now + tries * kLaterEachTime);
    const Clock::time_point early = step.after.again - milliseconds(1);
    EXPECT_EQ(next_step(step.after, PeerNews::kTime, {early}), (PeerStep{step.after}));
    EXPECT_EQ(text_of(next_step(step.after, PeerNews::kWanted, {early})), "A");  // calls wait for it as well
    now = step.after.again;
    const PeerStep due = next_step(step.after, PeerNews::kTime, {now});
    ASSERT_EQ(text_of(due), "C>");
    EXPECT_EQ(text_of(next_step(step.after, PeerNews::kTime, {now + milliseconds(700)})), "C>");
    peer = next_step(due.after, PeerNews::kReached, {now}).after;
    ASSERT_EQ(peer.standing, Standing::kConnected);
    ASSERT_EQ(peer.tries, tries);
    now += milliseconds(3);
  }
  EXPECT_EQ(text_of(next_step(peer, PeerNews::kUnwelcome, {now})), "G.!");
  EXPECT_EQ(kMostTries, 10);
}

TEST(PeerStanding, WhoWaitsToBeConnectedToAgainMayGoMeanwhile) {
  const PeerStep waits = next_step(standing(3), PeerNews::kUnwelcome, {kNow});
  const PeerStep gone = next_step(waits.after, PeerNews::kLeft, {kNow});
  EXPECT_EQ(text_of(gone), "G.");
  EXPECT_EQ(next_step(gone.after, PeerNews::kTime, {waits.after.again}), (PeerStep{gone.after}));
}

TEST(PeerStanding, ALossThatAnotherRankTellsOfLetsCallsGoOn) {
  const PeerStep told = next_step(standing(3), PeerNews::kToldLost, {kNow});
  EXPECT_EQ(text_of(told), "T!");
  EXPECT_EQ(text_of(next_step(told.after, PeerNews::kToldLost, {kNow})), "T");
  EXPECT_EQ(text_of(next_step(told.after, PeerNews::kBroken, {kNow})), "G.");  // all know already
  // One that took leave may turn out to be lost to somebody; its own end is no more than that.
  const PeerStep left = next_step(standing(3), PeerNews::kLeft, {kNow});
  EXPECT_EQ(text_of(next_step(left.after, PeerNews::kToldLost, {kNow})), "G!");
  EXPECT_EQ(text_of(next_step(left.after, PeerNews::kBroken, {kNow})), "G");
}

}  // namespace
}  // namespace plait::transport::native
