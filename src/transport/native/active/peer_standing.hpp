/// How another rank stands with this process, and what follows from what is heard of it: no sockets, and no clock.
#pragma once

#include <cstdint>

#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// What this process has of a rank to call it by.
enum class Standing : std::uint8_t {
  kUntried,     ///< nothing: it has not been called, or the last attempt has found no way
  kConnecting,  ///< an attempt, which is under way
  kAgain,       ///< nothing until PeerStanding::again, when it is connected to anew
  kConnected,   ///< a connection; whether the rank has said that it serves it, Caller knows
  kGone,        ///< nothing any more: it has ended, left or been lost
};
inline constexpr int kStandings = 5;

/// What is heard of a rank.
enum class PeerNews : std::uint8_t {
  kWanted,       ///< the first call has come, or all ranks are to be watched
  kTime,         ///< time has passed
  kIntroduced,   ///< a connection says that the rank calls by it
  kReached,      ///< the attempt has led there
  kRefusedHere,  ///< the attempt has ended: nobody of this key listens, at addresses of this host
  kRefused,      ///< the same at addresses of another host
  kUnanswered,   ///< the attempt has ended: none of the addresses has answered
  kUnable,       ///< the attempt has ended: this process could make no socket, or knows no address
  kUntaken,      ///< the connection that the attempt has made could not be used
  kUnwelcome,    ///< this process's connection has ended without a word before the rank served it
  kLeft,         ///< the rank has said that it stops, and a connection with it has ended
  kBroken,       ///< a connection with it has ended without a word, or its host is silent
  kToldLost,     ///< another rank says that it has lost it
};
inline constexpr int kPeerNews = 13;

/// What else counts.
struct PeerFacts {
  Clock::time_point now;
  bool led_away = false;  ///< a socket has led to another host: no firewall keeps all of them off
  bool calls = false;     ///< its own connection to this process is open
};

/// What is kept of a rank.
struct PeerStanding {
  Standing standing = Standing::kUntried;
  bool doubted = false;       ///< it has not answered, though its own connection is open: the next time counts
  bool lost = false;          ///< all have been told so; it may still be called where only another rank says so
  int tries = 0;              ///< how often it has ended connections before it served them
  Clock::time_point again{};  ///< in kAgain
  friend bool operator==(const PeerStanding&, const PeerStanding&) = default;
};

enum class PeerAct : std::uint8_t {
  kNone,
  kConnect,  ///< begin an attempt
  kWait,     ///< have the clock looked at by PeerStanding::again
  kTake,     ///< call by the connection that the attempt has made
  kFail,     ///< what waits fails, the next call tries anew
  kServe,    ///< serve the calls that come by the connection
  kEnd,      ///< end all that there is between the two; calls fail from now on
};

struct PeerStep {
  PeerStanding after;
  PeerAct act = PeerAct::kNone;
  bool tells_loss = false;  ///< after that all are told that it is lost
  friend bool operator==(const PeerStep&, const PeerStep&) = default;
};

PeerStep next_step(const PeerStanding& before, PeerNews news, const PeerFacts& facts);

}  // namespace plait::transport::native
