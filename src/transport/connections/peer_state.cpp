#include "transport/connections/peer_state.hpp"

namespace plait::transport::connections {

bool connecting(PeerState state) {
  return state == PeerState::kProbed || state == PeerState::kAwaited || state == PeerState::kTried;
}

namespace {

PeerStep after_call(PeerState state, const PeerFacts& facts) {
  // One that has connected to this process is there, and hears of messages by that connection: nothing to wait for.
  if (state == PeerState::kUntried) return {facts.has_called ? PeerState::kUntried : PeerState::kAwaited};
  if (state == PeerState::kProbed) return {facts.has_called ? PeerState::kTried : PeerState::kAwaited};
  return {state};
}

PeerStep after_failure(PeerState state, PeerEvent how, const PeerFacts& facts) {
  if (!connecting(state)) return {state};
  // A probe says something of the network and nothing of the peer, which a first call tries anew.
  if (state == PeerState::kProbed) return {PeerState::kUntried};
  // That no socket leads to a peer says that it has gone only where this process can make sockets and some lead to
  // other hosts; else a firewall may let nothing but MPI through.  Where it has gone MPI must not be tried: MPICH 5.0.2
  // crashes in a send to a process whose host it has lost.
  const bool can_tell = how != PeerEvent::kUnable && facts.led_away;
  // Who has called is there, and so is who has sent messages of MPI while its host answered no socket.  A host that
  // answers that nobody listens is more certain than messages, which may have come before the peer ended.
  const bool there = facts.has_called || (how == PeerEvent::kUnanswered && facts.heard);
  if (can_tell && !there) return {PeerState::kGone, PeerNews::kGone};
  return {PeerState::kSilent, state == PeerState::kAwaited ? PeerNews::kReady : PeerNews::kNone};
}

}  // namespace

PeerStep next_step(PeerState state, PeerEvent event, const PeerFacts& facts) {
  const bool awaited = state == PeerState::kAwaited;
  switch (event) {
    case PeerEvent::kCall: return after_call(state, facts);
    case PeerEvent::kProbe: return {state == PeerState::kUntried ? PeerState::kProbed : state};
    case PeerEvent::kHello:
      // The attempt goes on: of two connections the own one is known to work in both directions.
      return awaited ? PeerStep{PeerState::kTried, PeerNews::kReady} : PeerStep{state};
    case PeerEvent::kConnected:
      if (!connecting(state)) return {state};
      return {PeerState::kConnected, awaited ? PeerNews::kReady : PeerNews::kNone};
    case PeerEvent::kRefused:
    case PeerEvent::kUnanswered:
    case PeerEvent::kUnable: return after_failure(state, event, facts);
    case PeerEvent::kListenerGone:
      // Whoever called is told by the state; nobody else has had to do with this peer.
      return {connecting(state) ? PeerState::kGone : state};
    case PeerEvent::kWaited:
      // Behind a firewall calls go by MPI alone; where sockets lead to other hosts, this one may be lost.
      return awaited && !facts.led_away ? PeerStep{PeerState::kTried, PeerNews::kReady} : PeerStep{state};
    case PeerEvent::kEnded:
      // Also of one that counts as gone: it may have been found so by a call, and nobody else been told.
      return {PeerState::kGone, PeerNews::kGone};
    case PeerEvent::kClosed: return {PeerState::kGone};
  }
  return {state};
}

}  // namespace plait::transport::connections
