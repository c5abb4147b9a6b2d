/// What a process knows of another one by sockets: states, events, and which state follows.
#pragma once

#include <cstdint>

namespace plait::transport::connections {

/// A peer is being connected to in kProbed, kAwaited and kTried, and only then.
enum class PeerState : std::uint8_t {
  kUntried,    ///< nothing has been called there; it may have connected to this process
  kProbed,     ///< being connected to only to find out whether sockets lead to its host
  kAwaited,    ///< being connected to, and calls wait for it
  kTried,      ///< being connected to, and calls do not wait
  kConnected,  ///< this process has connected to it
  kSilent,     ///< sockets do not lead there, which does not say that it has gone: MPI may reach it
  kGone,       ///< it has ended, left or been lost; or this process has closed
};
inline constexpr int kPeerStates = 7;

enum class PeerEvent : std::uint8_t {
  kCall,          ///< it is to be called
  kProbe,         ///< it is to be tried at the start, as one of another host
  kHello,         ///< it has connected to this process
  kConnected,     ///< an attempt has led there
  kRefused,       ///< an attempt has ended: its host is there, and nobody listens
  kUnanswered,    ///< an attempt has ended: no address has answered for 15 s
  kUnable,        ///< there is nothing to connect by, or this process could make no socket
  kListenerGone,  ///< its local socket, which had a listener, has none
  kWaited,        ///< calls have waited for a second
  kEnded,         ///< a connection with it has ended, in whichever direction
  kClosed,        ///< this process closes
};
inline constexpr int kPeerEvents = 11;

/// What else counts.
struct PeerFacts {
  bool has_called = false;  ///< its own connection to this process is open
  bool led_away = false;    ///< a socket has led to another host: no firewall keeps all of them off
  bool heard = false;       ///< a message of MPI has come of it
};

/// What those who wait for a peer are to be told.
enum class PeerNews : std::uint8_t { kNone, kReady, kGone };

struct PeerStep {
  PeerState state = PeerState::kUntried;
  PeerNews news = PeerNews::kNone;
  friend bool operator==(const PeerStep&, const PeerStep&) = default;
};

/// Whether a peer in this state is being connected to.
bool connecting(PeerState state);
PeerStep next_step(PeerState state, PeerEvent event, const PeerFacts& facts);

}  // namespace plait::transport::connections
