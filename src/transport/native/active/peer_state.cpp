#include "transport/native/active/peer_state.hpp"

#include "transport/native/retry_policy.hpp"

namespace plait::transport::native {

namespace {

PeerTransition moved(PeerRecord peer, PeerState to, PeerAction act) {
  peer.state = to;
  return {peer, act};
}

PeerTransition with_loss(PeerTransition transition) {
  transition.reports_loss = !transition.after.lost;
  transition.after.lost = true;
  return transition;
}

PeerTransition gone(const PeerRecord& peer) { return moved(peer, PeerState::kGone, PeerAction::kEnd); }

PeerTransition after_failure(PeerRecord peer, PeerEvent how, const PeerFacts& facts) {
  // On this host the result is certain.  Ranks that have a connection to it know if it left or was lost.
  if (how == PeerEvent::kRefusedHere) return gone(peer);
  // If sockets reach other hosts but not this one, a firewall is not the cause.
  if (how != PeerEvent::kUnable && facts.led_away) {
    if (!facts.calls) return with_loss(gone(peer));
    // The rank's own connection may be about to end as well, so a second attempt decides.
    if (how == PeerEvent::kUnanswered && !peer.doubted) {
      peer.doubted = true;
      return moved(peer, PeerState::kConnecting, PeerAction::kConnect);
    }
  }
  peer.doubted = false;
  return moved(peer, PeerState::kDisconnected, PeerAction::kFail);
}

PeerTransition after_unwelcome(PeerRecord peer, const PeerFacts& facts) {
  if (++peer.tries > kMaxTries) return with_loss(gone(peer));
  peer.retry_at = facts.now + peer.tries * kRetryDelay;
  return moved(peer, PeerState::kRetryWait, PeerAction::kWait);
}

/// The transition of a rank that is not gone.
PeerTransition transition(const PeerRecord& peer, PeerEvent event, const PeerFacts& facts) {
  const PeerState state = peer.state;
  const bool connecting = state == PeerState::kConnecting;
  const bool connected = state == PeerState::kConnected;
  const bool due = state == PeerState::kRetryWait && peer.retry_at <= facts.now;
  const PeerTransition nothing{peer};
  const PeerTransition connects = moved(peer, PeerState::kConnecting, PeerAction::kConnect);
  switch (event) {
    case PeerEvent::kWanted: return state == PeerState::kDisconnected ? connects : nothing;
    case PeerEvent::kTime: return due ? connects : nothing;
    case PeerEvent::kIntroduced: return facts.calls ? nothing : PeerTransition{peer, PeerAction::kServe};
    case PeerEvent::kReached: return connecting ? moved(peer, PeerState::kConnected, PeerAction::kTake) : nothing;
    case PeerEvent::kRefusedHere:
    case PeerEvent::kRefused:
    case PeerEvent::kUnanswered:
    case PeerEvent::kUnable: return connecting ? after_failure(peer, event, facts) : nothing;
    case PeerEvent::kUnusable: return connected ? moved(peer, PeerState::kDisconnected, PeerAction::kFail) : nothing;
    case PeerEvent::kDropped: return connected ? after_unwelcome(peer, facts) : nothing;
    case PeerEvent::kLeft: return gone(peer);
    case PeerEvent::kBroken: return with_loss(gone(peer));
    case PeerEvent::kReportedLost: break;  // handled by next_state()
  }
  return nothing;
}

}  // namespace

PeerTransition next_state(const PeerRecord& before, PeerEvent event, const PeerFacts& facts) {
  // This also applies to a rank that has announced its end, because a loss is the stronger report.
  if (event == PeerEvent::kReportedLost) return with_loss({before});
  if (before.state == PeerState::kGone) return {before};
  return transition(before, event, facts);
}

}  // namespace plait::transport::native
