// The state machine of a rank's connection to another rank (the peer): the transition for each state and event, under
// all facts, at times that the tests set.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "transport/native/active/peer_state.hpp"
#include "transport/native/retry_policy.hpp"

namespace plait::transport::native {
namespace {

using std::chrono::milliseconds;

/// Texts of transitions: the new state (U untried, C connecting, A waiting for another attempt, T connected, G gone),
/// the action (`>` connect, `~` wait, `+` use the connection, `x` fail the calls, `s` serve calls, `.` end all
/// connections; in the order of PeerAction), and `!` if the loss of the rank is reported to all. Example: `C>` is the
/// transition to connecting by a new attempt.
constexpr std::string_view kStateLetters = "UCATG";
constexpr std::array<std::string_view, 7> kActionSymbols{"", ">", "~", "+", "x", "s", "."};

const Clock::time_point kNow{std::chrono::seconds(1000)};

std::string to_text(const PeerTransition& transition) {
  std::string text(1, kStateLetters[static_cast<std::size_t>(transition.after.state)]);
  text += kActionSymbols[static_cast<std::size_t>(transition.act)];
  return text + (transition.reports_loss ? "!" : "");
}

PeerRecord make_peer(PeerState state) {
  PeerRecord peer;
  peer.state = state;
  peer.retry_at = kNow;
  return peer;
}

/// Returns the label of a failed check.
std::string label(int before, PeerEvent event) {
  std::string text = "state ";
  text += kStateLetters[static_cast<std::size_t>(before)];
  text += ", event ";
  text += std::to_string(static_cast<int>(event));
  return text;
}

/// The conditions of a table row, and its results. For each event, exactly one row holds under any combination of
/// facts.
struct Row {
  PeerEvent event;
  std::string_view has_reached_other_host;  // "y", "n" or "*"
  std::string_view has_own_connection;
  std::string_view is_doubted;
  std::array<std::string_view, kPeerStates> after;  // by the state before
};

bool matches(const Row& row, const PeerFacts& facts, bool doubted) {
  const auto agrees = [](std::string_view condition, bool fact) {
    return condition == "*" || (condition == "y") == fact;
  };
  return agrees(row.has_reached_other_host, facts.has_reached_other_host) &&
         agrees(row.has_own_connection, facts.has_own_connection) && agrees(row.is_doubted, doubted);
}

// clang-format off
const std::vector<Row> kTable{
    //                        away calls doubted U      C       A      T      G
    {PeerEvent::kWanted,       "*", "*", "*", {"C>",   "C",    "A",   "T",   "G"}},
    {PeerEvent::kTime,         "*", "*", "*", {"U",    "C",    "C>",  "T",   "G"}},
    {PeerEvent::kIntroduced,   "*", "n", "*", {"Us",   "Cs",   "As",  "Ts",  "G"}},
    {PeerEvent::kIntroduced,   "*", "y", "*", {"U",    "C",    "A",   "T",   "G"}},
    {PeerEvent::kReached,      "*", "*", "*", {"U",    "T+",   "A",   "T",   "G"}},
    {PeerEvent::kRefusedHere,  "*", "*", "*", {"U",    "G.",   "A",   "T",   "G"}},
    {PeerEvent::kRefused,      "n", "*", "*", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerEvent::kRefused,      "y", "n", "*", {"U",    "G.!",  "A",   "T",   "G"}},
    {PeerEvent::kRefused,      "y", "y", "*", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerEvent::kUnanswered,   "n", "*", "*", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerEvent::kUnanswered,   "y", "n", "*", {"U",    "G.!",  "A",   "T",   "G"}},
    {PeerEvent::kUnanswered,   "y", "y", "n", {"U",    "C>",   "A",   "T",   "G"}},
    {PeerEvent::kUnanswered,   "y", "y", "y", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerEvent::kUnable,       "*", "*", "*", {"U",    "Ux",   "A",   "T",   "G"}},
    {PeerEvent::kUnusable,     "*", "*", "*", {"U",    "C",    "A",   "Ux",  "G"}},
    {PeerEvent::kDropped,      "*", "*", "*", {"U",    "C",    "A",   "A~",  "G"}},
    {PeerEvent::kLeft,         "*", "*", "*", {"G.",   "G.",   "G.",  "G.",  "G"}},
    {PeerEvent::kBroken,       "*", "*", "*", {"G.!",  "G.!",  "G.!", "G.!", "G"}},
    {PeerEvent::kReportedLost, "*", "*", "*", {"U!",   "C!",   "A!",  "T!",  "G!"}},
};
// clang-format on

/// Returns the only row of the table that matches an event under the facts.
const Row& find_row(PeerEvent event, const PeerFacts& facts, bool doubted) {
  static const Row no_row{};
  std::vector<const Row*> rows;
  for (const Row& row : kTable)
    if (row.event == event && matches(row, facts, doubted)) rows.push_back(&row);
  EXPECT_EQ(rows.size(), 1U) << "event " << static_cast<int>(event);
  return rows.empty() ? no_row : *rows.front();
}

/// Calls `check` with each state, event and combination of facts, doubted or not, lost or not.
template <typename Check>
void for_all(Check&& check) {
  for (int event = 0; event < kPeerEvents; ++event) {
    for (unsigned bits = 0; bits < 16; ++bits) {
      const PeerFacts facts{kNow, (bits & 1U) != 0, (bits & 2U) != 0};
      for (int before = 0; before < kPeerStates; ++before) {
        PeerRecord peer = make_peer(static_cast<PeerState>(before));
        peer.is_doubted = (bits & 4U) != 0;
        peer.is_lost = (bits & 8U) != 0;
        check(peer, static_cast<PeerEvent>(event), facts);
      }
    }
  }
}

TEST(PeerRecord, TransitionsMatchTheTable) {
  for_all([](const PeerRecord& peer, PeerEvent event, const PeerFacts& facts) {
    const auto before = static_cast<std::size_t>(peer.state);
    std::string expected(find_row(event, facts, peer.is_doubted).after[before]);
    // A loss is reported only once.
    if (peer.is_lost && expected.ends_with('!')) expected.pop_back();
    const PeerTransition transition = next_state(peer, event, facts);
    EXPECT_EQ(to_text(transition), expected)
        << label(static_cast<int>(before), event) << ", away " << facts.has_reached_other_host << ", calls "
        << facts.has_own_connection << ", doubted " << peer.is_doubted;
  });
}

TEST(PeerRecord, GoneAndLostAreFinal) {
  for_all([](const PeerRecord& peer, PeerEvent event, const PeerFacts& facts) {
    const PeerTransition transition = next_state(peer, event, facts);
    if (peer.state == PeerState::kGone) {
      EXPECT_EQ(transition.after.state, PeerState::kGone);
      EXPECT_EQ(transition.act, PeerAction::kNone);  // what has ended is not ended again
    }
    EXPECT_TRUE(transition.after.is_lost || !peer.is_lost);
    EXPECT_EQ(transition.reports_loss, transition.after.is_lost && !peer.is_lost);
    EXPECT_EQ(transition.act == PeerAction::kEnd,
              transition.after.state == PeerState::kGone && peer.state != PeerState::kGone);
  });
}

/// Calls are queued while their rank is being connected. Every event either continues the attempt or fails the calls.
TEST(PeerRecord, NoCallWaitsForever) {
  for_all([](const PeerRecord& peer, PeerEvent event, const PeerFacts& facts) {
    const PeerTransition transition = next_state(peer, event, facts);
    const PeerState after = transition.after.state;
    const std::string what = label(static_cast<int>(peer.state), event);
    const bool begins = after == PeerState::kConnecting && peer.state != PeerState::kConnecting;
    EXPECT_TRUE(!begins || transition.act == PeerAction::kConnect) << what;
    const bool stays = after == peer.state && transition.act != PeerAction::kConnect;
    const bool ended = event >= PeerEvent::kReached && event <= PeerEvent::kUnable;  // of the attempt
    EXPECT_FALSE(peer.state == PeerState::kConnecting && ended && stays) << what;
    const bool falls_back = after == PeerState::kDisconnected && peer.state != PeerState::kDisconnected;
    EXPECT_EQ(falls_back, transition.act == PeerAction::kFail) << what;
    EXPECT_EQ(after == PeerState::kRetryWait && peer.state != PeerState::kRetryWait,
              transition.act == PeerAction::kWait)
        << what;
  });
}

TEST(PeerRecord, ARankThatCallsButDoesNotAnswerIsTriedOnceMore) {
  const PeerFacts facts{kNow, true, true};
  const PeerTransition first = next_state(make_peer(PeerState::kConnecting), PeerEvent::kUnanswered, facts);
  EXPECT_EQ(to_text(first), "C>");
  EXPECT_TRUE(first.after.is_doubted);
  // Its connection to this rank still exists: the rank is alive, but this rank cannot connect to it.
  const PeerTransition stayed = next_state(first.after, PeerEvent::kUnanswered, facts);
  EXPECT_EQ(to_text(stayed), "Ux");
  EXPECT_FALSE(stayed.after.is_doubted);
  // Its connection to this rank has ended meanwhile.
  EXPECT_EQ(to_text(next_state(first.after, PeerEvent::kUnanswered, {kNow, true, false})), "G.!");
  // The next call starts anew, without a doubt.
  const PeerTransition again = next_state(stayed.after, PeerEvent::kWanted, facts);
  EXPECT_EQ(to_text(next_state(again.after, PeerEvent::kUnanswered, facts)), "C>");
}

TEST(PeerRecord, OnlyTheEndOfAnAttemptClearsADoubt) {
  for_all([](const PeerRecord& peer, PeerEvent event, const PeerFacts& facts) {
    const PeerTransition transition = next_state(peer, event, facts);
    const bool ended = event >= PeerEvent::kRefused && event <= PeerEvent::kUnable;
    const bool is_cleared = ended && transition.act == PeerAction::kFail;
    const bool is_set = event == PeerEvent::kUnanswered && transition.act == PeerAction::kConnect;
    EXPECT_EQ(transition.after.is_doubted, (peer.is_doubted && !is_cleared) || is_set)
        << label(static_cast<int>(peer.state), event);
  });
}

TEST(PeerRecord, AConnectionIsRetriedTenTimesWithGrowingDelays) {
  PeerRecord peer = make_peer(PeerState::kConnected);
  Clock::time_point now = kNow;
  for (int tries = 1; tries <= kMaxTries; ++tries) {
    const PeerTransition transition = next_state(peer, PeerEvent::kDropped, {now});
    ASSERT_EQ(to_text(transition), "A~");
    ASSERT_EQ(transition.after.tries, tries);
    ASSERT_EQ(transition.after.retry_at, now + tries * kRetryDelay);
    const Clock::time_point early = transition.after.retry_at - milliseconds(1);
    EXPECT_EQ(next_state(transition.after, PeerEvent::kTime, {early}), (PeerTransition{transition.after}));
    EXPECT_EQ(to_text(next_state(transition.after, PeerEvent::kWanted, {early})),
              "A");  // a new call waits for the retry, too
    now = transition.after.retry_at;
    const PeerTransition due = next_state(transition.after, PeerEvent::kTime, {now});
    ASSERT_EQ(to_text(due), "C>");
    EXPECT_EQ(to_text(next_state(transition.after, PeerEvent::kTime, {now + milliseconds(700)})), "C>");
    peer = next_state(due.after, PeerEvent::kReached, {now}).after;
    ASSERT_EQ(peer.state, PeerState::kConnected);
    ASSERT_EQ(peer.tries, tries);
    now += milliseconds(3);
  }
  EXPECT_EQ(to_text(next_state(peer, PeerEvent::kDropped, {now})), "G.!");
  EXPECT_EQ(kMaxTries, 10);
}

TEST(PeerRecord, ARankMayLeaveWhileARetryIsPending) {
  const PeerTransition waits = next_state(make_peer(PeerState::kConnected), PeerEvent::kDropped, {kNow});
  const PeerTransition gone = next_state(waits.after, PeerEvent::kLeft, {kNow});
  EXPECT_EQ(to_text(gone), "G.");
  EXPECT_EQ(next_state(gone.after, PeerEvent::kTime, {waits.after.retry_at}), (PeerTransition{gone.after}));
}

TEST(PeerRecord, ALossReportedByAnotherRankDoesNotEndConnections) {
  const PeerTransition reported = next_state(make_peer(PeerState::kConnected), PeerEvent::kReportedLost, {kNow});
  EXPECT_EQ(to_text(reported), "T!");
  EXPECT_EQ(to_text(next_state(reported.after, PeerEvent::kReportedLost, {kNow})), "T");
  EXPECT_EQ(to_text(next_state(reported.after, PeerEvent::kBroken, {kNow})), "G.");  // the loss is reported already
  // Another rank may report a rank that has left as lost; a broken connection after leaving changes nothing.
  const PeerTransition left = next_state(make_peer(PeerState::kConnected), PeerEvent::kLeft, {kNow});
  EXPECT_EQ(to_text(next_state(left.after, PeerEvent::kReportedLost, {kNow})), "G!");
  EXPECT_EQ(to_text(next_state(left.after, PeerEvent::kBroken, {kNow})), "G");
}

}  // namespace
}  // namespace plait::transport::native
