/// The state of another rank, and its transitions.  A pure function of events and times: no sockets, and no clock.
/// docs/concepts/connections.md has the table.
#pragma once

#include <cstdint>

#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// The connection that this process has to a rank.
enum class PeerState : std::uint8_t {
  kDisconnected,  ///< none: the rank was not called yet, or the last attempt failed
  kConnecting,    ///< an attempt is under way
  kRetryWait,     ///< none until PeerRecord::retry_at, when the next attempt begins
  kConnected,     ///< there is a connection; Caller knows if the rank already serves it
  kGone,          ///< none: the rank has exited, has left or is lost
};
inline constexpr int kPeerStates = 5;

/// Events of a rank.
enum class PeerEvent : std::uint8_t {
  kWanted,        ///< the first call was made, or all ranks are to be watched
  kTime,          ///< time has passed
  kIntroduced,    ///< the rank has identified itself on a connection that it uses for its own calls
  kReached,       ///< the attempt reached the rank
  kRefusedHere,   ///< the attempt failed: no process with this key listens at an address of this host
  kRefused,       ///< the attempt failed: no process with this key listens at an address of another host
  kUnanswered,    ///< the attempt failed: no address answered
  kUnable,        ///< the attempt failed: this process could create no socket, or knows no address
  kUnusable,      ///< the connection that the attempt made cannot be used
  kDropped,       ///< the connection ended without a message before the rank served it
  kLeft,          ///< the rank announced that it leaves, and a connection to it ended
  kBroken,        ///< a connection to it ended without a message, or its host is silent
  kReportedLost,  ///< another rank reports it as lost
};
inline constexpr int kPeerEvents = 13;

/// Further inputs of a transition.
struct PeerFacts {
  Clock::time_point now;
  bool has_reached_other_host = false;  ///< a socket of this process has; so no firewall blocks all other hosts
  bool has_own_connection = false;      ///< the rank's own connection to this process, for its calls, is open
};

/// The stored state of a rank.
struct PeerRecord {
  PeerState state = PeerState::kDisconnected;
  /// True after an attempt was not answered although the rank's own connection is open; a second attempt is then under
  /// way.
  bool is_doubted = false;
  /// True after the loss was reported to all ranks. Calls may still succeed if only another rank has reported it.
  bool is_lost = false;
  int tries = 0;                 ///< number of connections that the rank has ended before it served them
  Clock::time_point retry_at{};  ///< time of the next attempt in kRetryWait
  friend bool operator==(const PeerRecord&, const PeerRecord&) = default;
};

enum class PeerAction : std::uint8_t {
  kNone,
  kConnect,  ///< begin an attempt
  kWait,     ///< set a timer for PeerRecord::retry_at
  kTake,     ///< send calls on the connection that the attempt made
  kFail,     ///< waiting calls fail, and the next call begins a new attempt
  kServe,    ///< serve the calls that arrive on the connection
  kEnd,      ///< close all connections to the rank; calls fail from now on
};

struct PeerTransition {
  PeerRecord after;
  PeerAction act = PeerAction::kNone;
  bool reports_loss = false;  ///< the caller reports to all ranks that the rank is lost
  friend bool operator==(const PeerTransition&, const PeerTransition&) = default;
};

PeerTransition next_state(const PeerRecord& before, PeerEvent event, const PeerFacts& facts);

}  // namespace plait::transport::native
