// The transitions of the state of a rank. docs/concepts/connections.md has the table.
//
// The difficult question is whether a rank that cannot be reached is lost, or only blocked by a firewall. On this host
// a refused connection is certain: the process has ended. For other hosts the rank counts as lost if sockets of this
// process have reached other hosts (led_away), because a firewall would block those too; otherwise only the calls fail.
//
// Example: rank 5 is on another host, and has its own connection to this process (calls). An attempt to connect to it
// is not answered although led_away is true. The rank is not lost yet: `doubted` is set, and a second attempt begins.
// If that is not answered either, the waiting calls fail. If the rank's own connection breaks first, the rank is lost.

#include "transport/native/active/peer_state.hpp"

#include "transport/native/retry_policy.hpp"

namespace plait::transport::native {

namespace {

PeerTransition with_state(PeerRecord peer, PeerState to, PeerAction act) {
  peer.state = to;
  return {peer, act};
}

PeerTransition with_loss(PeerTransition transition) {
  transition.reports_loss = !transition.after.lost;
  transition.after.lost = true;
  return transition;
}

PeerTransition gone(const PeerRecord& peer) { return with_state(peer, PeerState::kGone, PeerAction::kEnd); }

PeerTransition after_failure(PeerRecord peer, PeerEvent event, const PeerFacts& facts) {
  // On this host a refusal is certain. It is not reported as a loss: ranks that have a connection to the rank know if
  // it has left or was lost.
  if (event == PeerEvent::kRefusedHere) return gone(peer);
  // If sockets of this process reach other hosts but not this one, no firewall is the cause.
  if (event != PeerEvent::kUnable && facts.led_away) {
    if (!facts.calls) return with_loss(gone(peer));
    // The rank's own connection is still open, but may be about to end too: try once more.
    if (event == PeerEvent::kUnanswered && !peer.doubted) {
      peer.doubted = true;
      return with_state(peer, PeerState::kConnecting, PeerAction::kConnect);
    }
  }
  peer.doubted = false;
  return with_state(peer, PeerState::kDisconnected, PeerAction::kFail);
}

PeerTransition after_unwelcome(PeerRecord peer, const PeerFacts& facts) {
  if (++peer.tries > kMaxTries) return with_loss(gone(peer));
  peer.retry_at = facts.now + peer.tries * kRetryDelay;
  return with_state(peer, PeerState::kRetryWait, PeerAction::kWait);
}

/// The transition of a rank that is not gone.
PeerTransition transition(const PeerRecord& peer, PeerEvent event, const PeerFacts& facts) {
  const PeerState state = peer.state;
  const bool connecting = state == PeerState::kConnecting;
  const bool connected = state == PeerState::kConnected;
  const bool due = state == PeerState::kRetryWait && peer.retry_at <= facts.now;
  const PeerTransition nothing{peer};
  const PeerTransition begins_attempt = with_state(peer, PeerState::kConnecting, PeerAction::kConnect);
  switch (event) {
    case PeerEvent::kWanted: return state == PeerState::kDisconnected ? begins_attempt : nothing;
    case PeerEvent::kTime: return due ? begins_attempt : nothing;
    case PeerEvent::kIntroduced: return facts.calls ? nothing : PeerTransition{peer, PeerAction::kServe};
    case PeerEvent::kReached: return connecting ? with_state(peer, PeerState::kConnected, PeerAction::kTake) : nothing;
    case PeerEvent::kRefusedHere:
    case PeerEvent::kRefused:
    case PeerEvent::kUnanswered:
    case PeerEvent::kUnable: return connecting ? after_failure(peer, event, facts) : nothing;
    case PeerEvent::kUnusable:
      return connected ? with_state(peer, PeerState::kDisconnected, PeerAction::kFail) : nothing;
    case PeerEvent::kDropped: return connected ? after_unwelcome(peer, facts) : nothing;
    case PeerEvent::kLeft: return gone(peer);
    case PeerEvent::kBroken: return with_loss(gone(peer));
    case PeerEvent::kReportedLost: break;  // handled by next_state()
  }
  return nothing;
}

}  // namespace

PeerTransition next_state(const PeerRecord& before, PeerEvent event, const PeerFacts& facts) {
  // A report of a loss also applies to a rank that has announced its end: waits for it must fail.
  if (event == PeerEvent::kReportedLost) return with_loss({before});
  if (before.state == PeerState::kGone) return {before};
  return transition(before, event, facts);
}

}  // namespace plait::transport::native
