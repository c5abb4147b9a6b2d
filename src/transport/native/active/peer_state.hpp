/// How another rank stands with this process, and what follows from what is heard of it: no sockets, and no clock.
#pragma once

#include <cstdint>

#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// What this process has of a rank to call it by.
enum class PeerState : std::uint8_t {
  kDisconnected,  ///< nothing: it has not been called, or the last attempt has found no way
  kConnecting,    ///< an attempt, which is under way
  kRetryWait,     ///< nothing until PeerRecord::retry_at, when it is connected to anew
  kConnected,     ///< a connection; whether the rank has said that it serves it, Caller knows
  kGone,          ///< nothing any more: it has ended, left or been lost
};
inline constexpr int kPeerStates = 5;

/// What is heard of a rank.
enum class PeerEvent : std::uint8_t {
  kWanted,        ///< the first call has come, or all ranks are to be watched
  kTime,          ///< time has passed
  kIntroduced,    ///< a connection says that the rank calls by it
  kReached,       ///< the attempt has led there
  kRefusedHere,   ///< the attempt has ended: nobody of this key listens, at addresses of this host
  kRefused,       ///< the same at addresses of another host
  kUnanswered,    ///< the attempt has ended: none of the addresses has answered
  kUnable,        ///< the attempt has ended: this process could make no socket, or knows no address
  kUnusable,      ///< the connection that the attempt has made could not be used
  kDropped,       ///< this process's connection has ended without a word before the rank served it
  kLeft,          ///< the rank has said that it stops, and a connection with it has ended
  kBroken,        ///< a connection with it has ended without a word, or its host is silent
  kReportedLost,  ///< another rank says that it has lost it
};
inline constexpr int kPeerEvents = 13;

/// What else counts.
struct PeerFacts {
  Clock::time_point now;
  bool led_away = false;  ///< a socket has led to another host: no firewall keeps all of them off
  bool calls = false;     ///< its own connection to this process is open
};

/// What is kept of a rank.
struct PeerRecord {
  PeerState state = PeerState::kDisconnected;
  bool doubted = false;          ///< it has not answered, though its own connection is open: the next time counts
  bool lost = false;             ///< all have been told so; it may still be called where only another rank says so
  int tries = 0;                 ///< how often it has ended connections before it served them
  Clock::time_point retry_at{};  ///< in kRetryWait
  friend bool operator==(const PeerRecord&, const PeerRecord&) = default;
};

enum class PeerAction : std::uint8_t {
  kNone,
  kConnect,  ///< begin an attempt
  kWait,     ///< have the clock looked at by PeerRecord::retry_at
  kTake,     ///< call by the connection that the attempt has made
  kFail,     ///< what waits fails, the next call tries anew
  kServe,    ///< serve the calls that come by the connection
  kEnd,      ///< end all that there is between the two; calls fail from now on
};

struct PeerTransition {
  PeerRecord after;
  PeerAction act = PeerAction::kNone;
  bool reports_loss = false;  ///< after that all are told that it is lost
  friend bool operator==(const PeerTransition&, const PeerTransition&) = default;
};

PeerTransition next_state(const PeerRecord& before, PeerEvent event, const PeerFacts& facts);

}  // namespace plait::transport::native
