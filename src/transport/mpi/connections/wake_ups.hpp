/// How processes wake each other's handler threads, and notice that one of them has gone.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "transport/mpi/connections/connection_attempt.hpp"
#include "transport/mpi/connections/directory.hpp"

namespace plait::transport::mpi {

/// A blocking receive of MPI keeps its core busy, so a handler thread sleeps in the kernel instead, on sockets over
/// which its peers send it a byte for every message of MPI that it is to look for: a local socket on one host, TCP
/// between hosts.  A connection is made by the first call to a peer, and its end tells that the peer has gone: at once
/// where a process ends, within 15 s where a host is lost.  A first connection to another host is made at the start.
/// Where sockets lead to other hosts, one that none of its addresses leads to has gone after 15 to 20 s, unless
/// something else has come of the peer: then it cannot be reached by sockets only.
///
/// Where no socket can be made, or a peer cannot be reached, its messages are found by looking from time to time.
class WakeUps {
 public:
  /// Collective over `comm`.
  explicit WakeUps(MPI_Comm comm);
  ~WakeUps();
  WakeUps(const WakeUps&) = delete;
  WakeUps& operator=(const WakeUps&) = delete;

  /// Begins to connect to a peer that is to be called, if that has not been tried; what is woken meanwhile is woken
  /// then. A peer that does not answer for a second is kReady too, MPI may reach it: unless sockets have led to other
  /// hosts.
  /// errors  none.
  /// threads  Any.
  enum class Reach : std::uint8_t { kReady, kNotYet, kGone };
  Reach connect(int peer);
  /// Whether the peer of another host has not hung up just now: MPICH crashes where it sends to a process that it knows
  /// to have ended.  threads  Any.
  bool there(int peer);
  /// Whether all peers are sure to reach this process's wake-ups.
  bool sure() const { return sure_; }
  /// Wakes the peer's handler; `large` tells it that a large message moves.  threads  Any.
  void wake(int peer, bool large) noexcept;
  /// Wakes the handler of this process.  threads  Any.
  void wake_self();

  struct Woken {
    int all = 0;
    bool large = false;  ///< one at least told of a large message
  };
  /// Sleeps until somebody wakes this process, a peer goes, or the time is up.  Returns what came.  On the handler
  /// thread.
  Woken wait(std::chrono::microseconds longest);
  /// Takes leave and hangs up: peers find this process gone, and it finds all of them so.  Not while wait() runs.
  void close();
  /// Called by wait() for a peer whose connection has ended, or that cannot be connected to; `took_leave`: it has
  /// closed.
  std::function<void(int peer, bool took_leave)> gone;
  /// Called by wait() for a peer that has become kReady.
  std::function<void(int peer)> reached;
  /// Whether something has come of a peer in another way.  Called by wait().
  std::function<bool(int peer)> heard;

 private:
  struct Hello {
    std::uint64_t cookie = 0;
    std::int64_t rank = 0;
  };
  /// Somebody who has connected, and may not have said who it is.
  struct IncomingConnection {
    Hello hello;
    std::size_t heard = 0;
    int peer() const { return heard == sizeof(Hello) ? static_cast<int>(hello.rank) : -1; }
  };
  enum class ConnectionState : std::uint8_t { kUntried, kTrying, kConnected, kSilent, kGone };

  /// Around a fork nothing changes here, and the child closes its copies: by them peers would find a process alive that
  /// has ended.
  struct Forks;
  void watch_forks();
  void forget_forks();

  void listen();
  void watch(int socket);
  void accept(int listener);
  /// Adds what has come on a connection to `woken`; returns false where it has ended.
  bool drain(int socket, Woken& woken);
  bool greet(int socket, IncomingConnection& connection);
  void begin_connecting(int peer, ConnectionState& state);
  /// Goes on with all attempts, or one.
  void go_on_connecting();
  ConnectionAttempt::State go_on(int peer, ConnectionAttempt& attempt);
  bool connected(int peer, int socket);
  /// Whether a socket is that of an attempt.
  bool attempts(int socket);
  static void send_wake_up(int socket, char wake_up);

  Directory directory_;
  bool sure_ = false;
  int set_ = -1;   // of all that the handler waits on
  int self_ = -1;  // what this process wakes itself by
  int local_ = -1;
  int network_ = -1;
  std::atomic<bool> woken_{false};  // whether this process has woken itself since the handler last woke

  std::mutex mutex_;  // of what follows
  std::vector<ConnectionState> states_;
  int trial_ = -1;               // a peer that is tried only to find out whether sockets lead to its host
  bool led_away_ = false;        // whether a socket has led to another host
  std::map<int, int> outgoing_;  // a peer's socket, where this process calls
  std::map<int, int> incoming_;  // where the peer does
  std::map<int, int> peers_;     // of outgoing sockets
  std::map<int, IncomingConnection> accepted_;
  std::map<int, std::unique_ptr<ConnectionAttempt>> attempts_;  // of peers
  std::set<int> held_;          // peers that are being connected to for calls, and not ready
  std::set<int> leaving_;       // sockets of peers that have taken leave
  std::map<int, bool> missed_;  // woken for peers that have not been accepted yet, and whether one was large
};

}  // namespace plait::transport::mpi
