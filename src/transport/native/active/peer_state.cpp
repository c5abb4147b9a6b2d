// The transitions of the state of a rank. docs/concepts/connections.md has the table.
//
// The difficult question is whether a rank that cannot be reached is lost, or only blocked by a firewall. On this host
// a refused connection is certain: the process has ended. For other hosts the rank counts as lost if sockets of this
// process have reached other hosts (has_reached_other_host), because a firewall would block those too; otherwise only
// the calls fail.
//
// Example: rank 5 is on another host, and its own connection to this process, for its calls, is open
// (has_own_connection). An attempt to connect to rank 5 is not answered although has_reached_other_host is true. The
// rank is not lost yet: is_doubted is set, and a second attempt begins. If that one is not answered either, the waiting
// calls fail. If the rank's own connection breaks first, the rank is lost.

#include "transport/native/active/peer_state.hpp"

#include "transport/native/retry_policy.hpp"

namespace plait::transport::native {

namespace {

/// Returns a transition to the state `to`.
PeerTransition with_state(PeerRecord peer, PeerState to, PeerAction act) {
  peer.state = to;
  return {peer, act};
}

/// Returns the transition, with the addition that the rank is lost.
PeerTransition with_loss(PeerTransition transition) {
  transition.reports_loss = !transition.after.is_lost;
  transition.after.is_lost = true;
  return transition;
}

PeerTransition to_gone(const PeerRecord& peer) { return with_state(peer, PeerState::kGone, PeerAction::kEnd); }

/// The transition after an attempt to connect has failed.
PeerTransition after_failure(PeerRecord peer, PeerEvent event, const PeerFacts& facts) {
  // On this host a refusal is certain. It is not reported as a loss: ranks that have a connection to the rank know if
  // it has left or was lost.
  if (event == PeerEvent::kRefusedHere) return to_gone(peer);
  // If sockets of this process reach other hosts but not this one, no firewall is the cause.
  if (event != PeerEvent::kUnable && facts.has_reached_other_host) {
    if (!facts.has_own_connection) return with_loss(to_gone(peer));
    // The rank's own connection is still open, but may be about to end too: try once more.
    if (event == PeerEvent::kUnanswered && !peer.is_doubted) {
      peer.is_doubted = true;
      return with_state(peer, PeerState::kConnecting, PeerAction::kConnect);
    }
  }
  peer.is_doubted = false;
  return with_state(peer, PeerState::kDisconnected, PeerAction::kFail);
}

/// The transition after the rank has ended a connection before it served that connection.
PeerTransition after_unserved(PeerRecord peer, const PeerFacts& facts) {
  if (++peer.tries > kMaxTries) return with_loss(to_gone(peer));
  peer.retry_at = facts.now + peer.tries * kRetryDelay;
  return with_state(peer, PeerState::kRetryWait, PeerAction::kWait);
}

/// The transition of a rank that is not gone.
PeerTransition transition(const PeerRecord& peer, PeerEvent event, const PeerFacts& facts) {
  const PeerState state = peer.state;
  const bool is_connecting = state == PeerState::kConnecting;
  const bool is_connected = state == PeerState::kConnected;
  const bool is_retry_due = state == PeerState::kRetryWait && peer.retry_at <= facts.now;
  const PeerTransition nothing{peer};
  const PeerTransition begins_attempt = with_state(peer, PeerState::kConnecting, PeerAction::kConnect);
  switch (event) {
    case PeerEvent::kWanted: return state == PeerState::kDisconnected ? begins_attempt : nothing;
    case PeerEvent::kTime: return is_retry_due ? begins_attempt : nothing;
    case PeerEvent::kIntroduced: return facts.has_own_connection ? nothing : PeerTransition{peer, PeerAction::kServe};
    case PeerEvent::kReached:
      return is_connecting ? with_state(peer, PeerState::kConnected, PeerAction::kTake) : nothing;
    case PeerEvent::kRefusedHere:
    case PeerEvent::kRefused:
    case PeerEvent::kUnanswered:
    case PeerEvent::kUnable: return is_connecting ? after_failure(peer, event, facts) : nothing;
    case PeerEvent::kUnusable:
      return is_connected ? with_state(peer, PeerState::kDisconnected, PeerAction::kFail) : nothing;
    case PeerEvent::kDropped: return is_connected ? after_unserved(peer, facts) : nothing;
    case PeerEvent::kLeft: return to_gone(peer);
    case PeerEvent::kBroken: return with_loss(to_gone(peer));
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
