/// The connections of one process with all others: one record for each of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "transport/connections/connection_attempt.hpp"
#include "transport/connections/directory.hpp"
#include "transport/connections/peer_state.hpp"
#include "transport/connections/sockets.hpp"

namespace plait::transport::connections {

/// Whether a peer may be called.
enum class Reach : std::uint8_t { kReady, kNotYet, kGone };

/// What has come of wake-ups.
struct Woken {
  int all = 0;
  bool large = false;  ///< one at least told of a large message
};

/// Carries out what peer_state.hpp decides: makes connections, sends and takes wake-ups, a byte each, and notices ends.
/// Knows neither time nor sockets but those it is given, and never waits.
///
/// threads  One at a time, but for heard_from().
class Connections {
 public:
  /// So long calls wait for a connection, where no socket has led to another host.
  static constexpr std::chrono::seconds kHeld{1};

  struct News {
    int peer = -1;
    PeerNews what = PeerNews::kNone;
    bool took_leave = false;  ///< of one that has gone: it has closed, rather than ended
  };

  Connections(const Directory& directory, Sockets& sockets);

  /// A peer is to be called: begins to connect to it, if that has not been tried.
  Reach call(int peer, Clock::time_point now);
  /// Finds out whether sockets lead to the host of a peer.
  void probe(int peer, Clock::time_point now);
  /// Whether a peer that is not near has not hung up just now.
  bool there(int peer);
  /// Sends a wake-up, or the first connection with the peer will.
  void wake(int peer, bool large);
  /// A message of MPI has come of a peer.  threads  Any number at once.
  void heard_from(int peer) { peer_of(peer).heard.store(true, std::memory_order_relaxed); }

  /// A socket has been accepted; who has connected it will say.
  void accepted(int socket) { open_[socket] = {}; }
  /// Takes what has come on a socket, or its end.  Sockets of attempts are left to advance().
  void ready(int socket, Woken& woken);
  /// Goes on with attempts to connect.  To be called from time to time, and when the outcome of one is known.
  void advance(Clock::time_point now);
  /// What has happened since the last call, in order, that those who wait for peers are to be told.  What call()
  /// returned is not among it.
  std::vector<News> take_news() { return std::exchange(news_, {}); }
  /// Takes leave of all and hangs up.
  void close();

  PeerState state(int peer) const { return peers_[static_cast<std::size_t>(peer)].state; }

 private:
  struct Peer {
    PeerState state = PeerState::kUntried;
    int outgoing = -1;                           // the socket by which this process has connected
    int incoming = -1;                           // by which the peer has
    std::unique_ptr<ConnectionAttempt> attempt;  // where it is being connected to over a network
    std::optional<bool> missed;                  // a wake-up that had no socket, and whether one was large
    // Relaxed: it only tells that the peer was there once, and is read seconds after that; nothing is read through it.
    std::atomic<bool> heard{false};
  };
  struct Hello {
    std::uint64_t cookie = 0;
    std::int64_t rank = 0;
  };
  /// An open socket.
  struct Connection {
    int peer = -1;  // until it has said who it is
    bool took_leave = false;
    Hello hello;
    std::size_t heard = 0;  // of the hello
  };

  Peer& peer_of(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  /// Moves a peer on, and keeps the news.
  void apply(int rank, PeerEvent event, bool took_leave = false);
  void open_local(int rank);
  void begin_attempt(int rank, Clock::time_point now);
  /// Says hello on a socket that leads to a peer; returns whether that is the peer's connection now.
  bool introduce(int rank, int socket);
  bool greet(int socket, Connection& connection);
  bool drain(int socket, Connection& connection, Woken& woken);
  void ended(int socket);
  void send_missed(Peer& peer, int socket);
  void send_wake_up(int socket, char wake_up);

  const Directory& directory_;
  Sockets& sockets_;
  std::vector<Peer> peers_;         // by rank
  std::map<int, Connection> open_;  // by socket
  std::set<int> attempted_;         // ranks that have an attempt
  bool led_away_ = false;           // whether a socket has led to another host; never again false
  std::vector<News> news_;
};

}  // namespace plait::transport::connections
