/// Connecting to a process on another host.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport/connections/sockets.hpp"

namespace plait::transport::connections {

using Clock = std::chrono::steady_clock;

/// A TCP connection being made, without waiting for it: to one address of a host after the other, and again, for a host
/// that does not answer may be back soon.
class ConnectionAttempt {
 public:
  /// After so long without any answer a host counts as lost.
  static constexpr std::chrono::seconds kLostAfter{15};
  /// Longest wait for one address; a packet or two may be lost meanwhile.
  static constexpr std::chrono::seconds kPatience{4};
  /// Least time from one round of all addresses to the next.
  static constexpr std::chrono::seconds kRound{1};

  enum class State : std::uint8_t {
    kTrying,
    kThere,    ///< release() returns the socket
    kRefused,  ///< the host is there, and nobody listens
    kLost,     ///< none of its addresses has answered
    kUnable,   ///< this process could make no socket
  };

  ConnectionAttempt(std::vector<sockaddr_in6> addresses, Sockets& sockets, Clock::time_point now)
      : addresses_(std::move(addresses)), sockets_(sockets), first_(now), round_(now) {}
  ~ConnectionAttempt() { drop(); }
  ConnectionAttempt(const ConnectionAttempt&) = delete;
  ConnectionAttempt& operator=(const ConnectionAttempt&) = delete;

  /// To be called from time to time, and when the outcome of a socket is known.
  State go_on(Clock::time_point now);
  int release() { return std::exchange(socket_, -1); }
  Clock::time_point since() const { return first_; }

 private:
  enum class Step : std::uint8_t { kWait, kThere, kNext };
  Step begin(Clock::time_point now);
  Step look(Clock::time_point now);
  Step failed(int code);
  void drop();

  std::vector<sockaddr_in6> addresses_;
  Sockets& sockets_;
  std::size_t at_ = 0;
  int socket_ = -1;
  bool refused_ = false;
  bool tried_ = false;  // any of them
  Clock::time_point first_;
  Clock::time_point begun_;  // of this address
  Clock::time_point round_;  // of all addresses
};

}  // namespace plait::transport::connections
