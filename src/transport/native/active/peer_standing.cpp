#include "transport/native/active/peer_standing.hpp"

#include "transport/native/patience.hpp"

namespace plait::transport::native {

namespace {

PeerStep moved(PeerStanding peer, Standing to, PeerAct act) {
  peer.standing = to;
  return {peer, act};
}

PeerStep with_loss(PeerStep step) {
  step.tells_loss = !step.after.lost;
  step.after.lost = true;
  return step;
}

PeerStep gone(const PeerStanding& peer) { return moved(peer, Standing::kGone, PeerAct::kEnd); }

PeerStep after_failure(PeerStanding peer, PeerNews how, const PeerFacts& facts) {
  // On this host it is certain.  Whether it took leave, its connections with those who have some tell.
  if (how == PeerNews::kRefusedHere) return gone(peer);
  // Where sockets lead to other hosts, and not to this one, it is no firewall's doing.
  if (how != PeerNews::kUnable && facts.led_away) {
    if (!facts.calls) return with_loss(gone(peer));
    // The rank's own connection may be about to end as well: it is waited for as long again.
    if (how == PeerNews::kUnanswered && !peer.doubted) {
      peer.doubted = true;
      return moved(peer, Standing::kConnecting, PeerAct::kConnect);
    }
  }
  peer.doubted = false;
  return moved(peer, Standing::kUntried, PeerAct::kFail);
}

PeerStep after_unwelcome(PeerStanding peer, const PeerFacts& facts) {
  if (++peer.tries > kMostTries) return with_loss(gone(peer));
  peer.again = facts.now + peer.tries * kLaterEachTime;
  return moved(peer, Standing::kAgain, PeerAct::kWait);
}

/// Of a rank that has not gone.
PeerStep step_of(const PeerStanding& peer, PeerNews news, const PeerFacts& facts) {
  const Standing standing = peer.standing;
  const bool connecting = standing == Standing::kConnecting;
  const bool connected = standing == Standing::kConnected;
  const bool due = standing == Standing::kAgain && peer.again <= facts.now;
  const PeerStep nothing{peer};
  const PeerStep connects = moved(peer, Standing::kConnecting, PeerAct::kConnect);
  switch (news) {
    case PeerNews::kWanted: return standing == Standing::kUntried ? connects : nothing;
    case PeerNews::kTime: return due ? connects : nothing;
    case PeerNews::kIntroduced: return facts.calls ? nothing : PeerStep{peer, PeerAct::kServe};
    case PeerNews::kReached: return connecting ? moved(peer, Standing::kConnected, PeerAct::kTake) : nothing;
    case PeerNews::kRefusedHere:
    case PeerNews::kRefused:
    case PeerNews::kUnanswered:
    case PeerNews::kUnable: return connecting ? after_failure(peer, news, facts) : nothing;
    case PeerNews::kUntaken: return connected ? moved(peer, Standing::kUntried, PeerAct::kFail) : nothing;
    case PeerNews::kUnwelcome: return connected ? after_unwelcome(peer, facts) : nothing;
    case PeerNews::kLeft: return gone(peer);
    case PeerNews::kBroken: return with_loss(gone(peer));
    case PeerNews::kToldLost: break;  // next_step() has seen to it
  }
  return nothing;
}

}  // namespace

PeerStep next_step(const PeerStanding& before, PeerNews news, const PeerFacts& facts) {
  // Also of one that has said that it stops: who lost it has more to say than that.
  if (news == PeerNews::kToldLost) return with_loss({before});
  if (before.standing == Standing::kGone) return {before};
  return step_of(before, news, facts);
}

}  // namespace plait::transport::native
