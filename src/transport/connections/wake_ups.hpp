/// How processes wake each other's handler threads, and notice that one of them has gone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/connections/connections.hpp"
#include "transport/connections/directory.hpp"
#include "transport/connections/posix_sockets.hpp"

namespace plait::transport::connections {

/// A blocking receive of MPI keeps its core busy, so a handler thread sleeps in the kernel instead, on sockets over
/// which its peers send it a byte for every message of MPI that it is to look for: a local socket on one host, TCP
/// between hosts.  A connection is made by the first call to a peer, and its end tells that the peer has gone: at once
/// where a process ends, within 15 s where a host is lost.  A first connection to another host is made at the start.
/// Where sockets lead to other hosts, one that none of its addresses leads to has gone after 15 to 20 s, unless
/// something else has come of the peer: then it cannot be reached by sockets only.
///
/// Where no socket can be made, or a peer cannot be reached, its messages are found by looking from time to time.
///
/// Here are the threads: connections.hpp has what is known of each peer, under the lock of this.
class WakeUps {
 public:
  /// Tells all others what is said of this process, and returns what all say, by rank.
  using Exchange = std::function<std::vector<Directory::Address>(const Directory::Address&)>;

  using Gone = std::function<void(int peer, bool took_leave)>;
  using Reached = std::function<void(int peer)>;

  /// Collective where `exchange` is.
  WakeUps(int rank, const Exchange& exchange);
  ~WakeUps() { close(); }
  WakeUps(const WakeUps&) = delete;
  WakeUps& operator=(const WakeUps&) = delete;

  /// What wait() calls, without the lock: `gone` for a peer whose connection has ended, or that cannot be connected to
  /// (`took_leave`: it has closed), `reached` for one that has become kReady.  Before the handler starts.
  void tell(Gone gone, Reached reached) {
    gone_ = std::move(gone);
    reached_ = std::move(reached);
  }

  /// Begins to connect to a peer that is to be called, if that has not been tried; what is woken meanwhile is woken
  /// then. A peer that does not answer for a second is kReady too, MPI may reach it: unless sockets have led to other
  /// hosts.
  /// errors  none.
  /// threads  Any.
  Reach connect(int peer);
  /// Whether the peer of another host has not hung up just now: MPICH crashes where it sends to a process that it knows
  /// to have ended.  threads  Any.
  bool there(int peer);
  /// A message has come of a peer in another way.  threads  Any.
  void heard_from(int peer) { connections_.heard_from(peer); }
  /// Whether all peers are sure to reach this process's wake-ups.
  bool sure() const { return sure_; }
  /// Wakes the peer's handler; `large` tells it that a large message moves.  threads  Any.
  void wake(int peer, bool large) noexcept;
  /// Wakes the handler of this process.  threads  Any.
  void wake_self();

  /// Sleeps until somebody wakes this process, a peer goes, or the time is up.  Returns what came.  On the handler
  /// thread.
  Woken wait(std::chrono::microseconds longest);
  /// Takes leave and hangs up: peers find this process gone, and it finds all of them so.  Not while wait() runs.
  void close();

 private:
  Directory::Address listen();
  void accept_from(int listener);

  PosixSockets sockets_;
  base::Descriptor self_;  // what this process wakes itself by
  int local_ = -1;         // listeners
  int network_ = -1;
  Directory directory_;
  bool sure_ = false;
  Gone gone_;
  Reached reached_;
  std::atomic<bool> woken_{false};  // whether this process has woken itself since the handler last woke

  std::mutex mutex_;  // of what follows, and of the sockets
  Connections connections_;
};

}  // namespace plait::transport::connections
