// What follows from each state and event, under all facts.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "transport/connections/peer_state.hpp"

namespace {

using plait::transport::connections::connecting;
using plait::transport::connections::kPeerEvents;
using plait::transport::connections::kPeerStates;
using plait::transport::connections::next_step;
using plait::transport::connections::PeerEvent;
using plait::transport::connections::PeerFacts;
using plait::transport::connections::PeerNews;
using plait::transport::connections::PeerState;
using plait::transport::connections::PeerStep;

/// U untried, P probed, A awaited, T tried, C connected, S silent, G gone; with + the peer is ready, with ! it has
/// gone.
constexpr std::string_view kLetters = "UPATCSG";

PeerStep step_of(std::string_view text) {
  const PeerNews news = text.ends_with('+')   ? PeerNews::kReady
                        : text.ends_with('!') ? PeerNews::kGone
                                              : PeerNews::kNone;
  return {static_cast<PeerState>(kLetters.find(text[0])), news};
}

std::string text_of(const PeerStep& step) {
  const std::array<std::string, 3> news{"", "+", "!"};
  return kLetters[static_cast<std::size_t>(step.state)] + news[static_cast<std::size_t>(step.news)];
}

/// The facts under which a row holds; rows of an event together hold under all of them, and no two under the same.
struct Row {
  PeerEvent event;
  std::string_view has_called;  // "y", "n" or "*"
  std::string_view led_away;
  std::string_view heard;
  std::array<std::string_view, kPeerStates> after;  // by the state before

  bool holds(const PeerFacts& facts) const {
    const auto fits = [](std::string_view wanted, bool fact) { return wanted == "*" || (wanted == "y") == fact; };
    return fits(has_called, facts.has_called) && fits(led_away, facts.led_away) && fits(heard, facts.heard);
  }
};

// clang-format off
const std::vector<Row> kTable{
    //                        called away heard  U     P     A     T     C     S     G
    {PeerEvent::kCall,         "n", "*", "*", {"A",  "A",  "A",  "T",  "C",  "S",  "G"}},
    {PeerEvent::kCall,         "y", "*", "*", {"U",  "T",  "A",  "T",  "C",  "S",  "G"}},
    {PeerEvent::kProbe,        "*", "*", "*", {"P",  "P",  "A",  "T",  "C",  "S",  "G"}},
    {PeerEvent::kHello,        "*", "*", "*", {"U",  "P",  "T+", "T",  "C",  "S",  "G"}},
    {PeerEvent::kConnected,    "*", "*", "*", {"U",  "C",  "C+", "C",  "C",  "S",  "G"}},
    {PeerEvent::kRefused,      "*", "n", "*", {"U",  "U",  "S+", "S",  "C",  "S",  "G"}},
    {PeerEvent::kRefused,      "n", "y", "*", {"U",  "U",  "G!", "G!", "C",  "S",  "G"}},
    {PeerEvent::kRefused,      "y", "y", "*", {"U",  "U",  "S+", "S",  "C",  "S",  "G"}},
    {PeerEvent::kUnanswered,   "*", "n", "*", {"U",  "U",  "S+", "S",  "C",  "S",  "G"}},
    {PeerEvent::kUnanswered,   "n", "y", "n", {"U",  "U",  "G!", "G!", "C",  "S",  "G"}},
    {PeerEvent::kUnanswered,   "n", "y", "y", {"U",  "U",  "S+", "S",  "C",  "S",  "G"}},
    {PeerEvent::kUnanswered,   "y", "y", "*", {"U",  "U",  "S+", "S",  "C",  "S",  "G"}},
    {PeerEvent::kUnable,       "*", "*", "*", {"U",  "U",  "S+", "S",  "C",  "S",  "G"}},
    {PeerEvent::kListenerGone, "*", "*", "*", {"U",  "G",  "G",  "G",  "C",  "S",  "G"}},
    {PeerEvent::kWaited,       "*", "n", "*", {"U",  "P",  "T+", "T",  "C",  "S",  "G"}},
    {PeerEvent::kWaited,       "*", "y", "*", {"U",  "P",  "A",  "T",  "C",  "S",  "G"}},
    {PeerEvent::kEnded,        "*", "*", "*", {"G!", "G!", "G!", "G!", "G!", "G!", "G!"}},
    {PeerEvent::kClosed,       "*", "*", "*", {"G",  "G",  "G",  "G",  "G",  "G",  "G"}},
};
// clang-format on

TEST(PeerState, EachStepIsThatOfTheTable) {
  for (int event = 0; event < kPeerEvents; ++event) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      const PeerFacts facts{(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0};
      std::vector<const Row*> rows;
      for (const Row& row : kTable)
        if (row.event == static_cast<PeerEvent>(event) && row.holds(facts)) rows.push_back(&row);
      ASSERT_EQ(rows.size(), 1U) << "event " << event << ", facts " << bits;
      for (int before = 0; before < kPeerStates; ++before) {
        const std::string_view expected = rows[0]->after[static_cast<std::size_t>(before)];
        const PeerStep step = next_step(static_cast<PeerState>(before), static_cast<PeerEvent>(event), facts);
        EXPECT_EQ(text_of(step), expected)
            << "state " << kLetters[static_cast<std::size_t>(before)] << ", event " << event << ", facts " << bits;
        EXPECT_EQ(step, step_of(expected));
      }
    }
  }
}

TEST(PeerState, NobodyWaitsForeverAndNobodyComesBack) {
  for (int event = 0; event < kPeerEvents; ++event) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      const PeerFacts facts{(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0};
      // Whoever is awaited is so still, or those who wait are told; but for what connect() itself returns, and the end.
      const PeerStep step = next_step(PeerState::kAwaited, static_cast<PeerEvent>(event), facts);
      const bool told = event == static_cast<int>(PeerEvent::kListenerGone) ||
                        event == static_cast<int>(PeerEvent::kClosed) || step.news != PeerNews::kNone;
      EXPECT_TRUE(step.state == PeerState::kAwaited || told) << "event " << event << ", facts " << bits;
      EXPECT_EQ(next_step(PeerState::kGone, static_cast<PeerEvent>(event), facts).state, PeerState::kGone);
      // Attempts begin by a call or a probe alone.
      for (int before = 0; before < kPeerStates; ++before) {
        const auto state = static_cast<PeerState>(before);
        const bool begins =
            !connecting(state) && connecting(next_step(state, static_cast<PeerEvent>(event), facts).state);
        EXPECT_TRUE(!begins || event == static_cast<int>(PeerEvent::kCall) ||
                    event == static_cast<int>(PeerEvent::kProbe));
      }
    }
  }
}

}  // namespace
