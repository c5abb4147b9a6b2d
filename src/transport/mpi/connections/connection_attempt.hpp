/// RecordedRequest a process on another host.
#pragma once

#include <netinet/in.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plait::transport::mpi {

/// IPv4 addresses as IPv6 writes them, so that one kind of socket does for both.
using NetworkAddress = std::array<std::uint8_t, 16>;
/// Where others may reach this host: IPv4 first.
std::vector<NetworkAddress> own_addresses();

/// Finds a lost host within 14 s: before MPICH's UCX does, which crashes then.
void keep_alive(int socket);

/// A connection to the local socket of a name; -1, and the system's code, where there is none.
int open_local(const std::string& name, int& code);

/// A TCP connection being made, without waiting for it: to one address of a host after the other, and again, for a host
/// that does not answer may be back soon.
class ConnectionAttempt {
 public:
  using Clock = std::chrono::steady_clock;
  /// After so long without any answer a host counts as lost.
  static constexpr std::chrono::seconds kLostAfter{15};

  enum class State : std::uint8_t {
    kTrying,
    kThere,    ///< release() returns the socket
    kRefused,  ///< the host is there, and nobody listens
    kLost,     ///< none of its addresses has answered
    kUnable,   ///< this process could make no socket
  };

  explicit ConnectionAttempt(std::vector<sockaddr_in6> addresses) : addresses_(std::move(addresses)) {}
  ~ConnectionAttempt() { drop(); }
  ConnectionAttempt(const ConnectionAttempt&) = delete;
  ConnectionAttempt& operator=(const ConnectionAttempt&) = delete;

  /// To be called from time to time, and when the socket can be written to.
  State go_on(Clock::time_point now);
  /// -1: none at the moment.  Another one whenever `go_on` has given one up.
  int socket() const { return socket_; }
  int release();
  Clock::time_point since() const { return first_; }

 private:
  enum class Step : std::uint8_t { kWait, kThere, kNext };
  Step begin(Clock::time_point now);
  Step look(Clock::time_point now);
  Step failed(int code);
  void drop();

  std::vector<sockaddr_in6> addresses_;
  std::size_t at_ = 0;
  int socket_ = -1;
  bool refused_ = false;
  bool tried_ = false;  // any of them
  Clock::time_point first_ = Clock::now();
  Clock::time_point begun_;           // of this address
  Clock::time_point round_ = first_;  // of all addresses
};

}  // namespace plait::transport::mpi
