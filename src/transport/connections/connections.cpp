#include "transport/connections/connections.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

namespace plait::transport::connections {

namespace {

constexpr char kMessage = 1;
constexpr char kLargeMessage = 2;
constexpr char kLeave = 3;

PeerEvent event_of(ConnectionAttempt::State outcome) {
  switch (outcome) {
    case ConnectionAttempt::State::kRefused: return PeerEvent::kRefused;
    case ConnectionAttempt::State::kLost: return PeerEvent::kUnanswered;
    default: return PeerEvent::kUnable;
  }
}

}  // namespace

Connections::Connections(const Directory& directory, Sockets& sockets)
    : directory_(directory), sockets_(sockets), peers_(static_cast<std::size_t>(directory.size())) {}

void Connections::apply(int rank, PeerEvent event, bool took_leave) {
  Peer& peer = peer_of(rank);
  const PeerFacts facts{peer.incoming >= 0, led_away_, peer.heard.load(std::memory_order_relaxed)};
  const PeerStep step = next_step(peer.state, event, facts);
  peer.state = step.state;
  if (!connecting(peer.state)) {
    peer.attempt.reset();
    attempted_.erase(rank);
  }
  if (step.news != PeerNews::kNone) news_.push_back({rank, step.news, took_leave});
}

Reach Connections::call(int peer, Clock::time_point now) {
  const bool before = connecting(state(peer));
  const std::size_t told = news_.size();
  apply(peer, PeerEvent::kCall);
  if (connecting(state(peer)) && !before) {
    directory_.near(peer) ? open_local(peer) : begin_attempt(peer, now);
    news_.resize(told);  // the caller hears of it here, and may hold locks that those who are told take
  }
  if (state(peer) == PeerState::kGone) return Reach::kGone;
  return state(peer) == PeerState::kAwaited ? Reach::kNotYet : Reach::kReady;
}

void Connections::probe(int peer, Clock::time_point now) {
  if (state(peer) != PeerState::kUntried) return;
  apply(peer, PeerEvent::kProbe);
  begin_attempt(peer, now);
}

void Connections::open_local(int rank) {
  const Sockets::Opened opened =
      sockets_.usable() ? sockets_.open_local(directory_.of(rank).local_name()) : Sockets::Opened{-1, ENOSYS, false};
  if (opened.socket >= 0) {
    apply(rank, introduce(rank, opened.socket) ? PeerEvent::kConnected : PeerEvent::kListenerGone);
  } else {
    apply(rank, opened.code == ECONNREFUSED ? PeerEvent::kListenerGone : PeerEvent::kUnable);
  }
}

void Connections::begin_attempt(int rank, Clock::time_point now) {
  auto names = directory_.network_names(rank);
  if (names.empty() || !sockets_.usable()) return apply(rank, PeerEvent::kUnable);
  Peer& peer = peer_of(rank);
  peer.attempt = std::make_unique<ConnectionAttempt>(std::move(names), sockets_, now);
  attempted_.insert(rank);
  // Under way from now on; what comes of it, even at once, is for advance(), whose caller may tell others.
  peer.attempt->go_on(now);
}

bool Connections::introduce(int rank, int socket) {
  const Hello hello{directory_.of(rank).cookie, directory_.rank()};
  if (!sockets_.send(socket, std::as_bytes(std::span(&hello, 1)))) {
    sockets_.close(socket);
    return false;
  }
  open_[socket].peer = rank;
  Peer& peer = peer_of(rank);
  peer.outgoing = socket;
  send_missed(peer, socket);
  return true;
}

void Connections::advance(Clock::time_point now) {
  for (auto next = attempted_.begin(); next != attempted_.end();) {
    const int rank = *next++;  // first: the step may take it out
    ConnectionAttempt& attempt = *peer_of(rank).attempt;
    const ConnectionAttempt::State outcome = attempt.go_on(now);
    if (outcome == ConnectionAttempt::State::kTrying) {
      if (now - attempt.since() > kHeld) apply(rank, PeerEvent::kWaited);
    } else if (outcome == ConnectionAttempt::State::kThere) {
      const int socket = attempt.release();
      sockets_.keep(socket);
      const bool connected = introduce(rank, socket);
      if (connected) led_away_ = true;
      apply(rank, connected ? PeerEvent::kConnected : PeerEvent::kRefused);
    } else {
      apply(rank, event_of(outcome));
    }
  }
}

bool Connections::there(int peer) {
  const Peer& known = peer_of(peer);
  const int socket = known.outgoing >= 0 ? known.outgoing : known.incoming;
  return socket >= 0 ? !sockets_.hung_up(socket) : known.state != PeerState::kGone;
}

void Connections::send_wake_up(int socket, char wake_up) {
  // One that finds no room is one of hundreds that have not been heard.
  sockets_.send(socket, std::as_bytes(std::span(&wake_up, 1)));
}

void Connections::wake(int peer, bool large) {
  Peer& known = peer_of(peer);
  const int socket = known.outgoing >= 0 ? known.outgoing : known.incoming;
  if (socket >= 0) return send_wake_up(socket, large ? kLargeMessage : kMessage);
  known.missed = known.missed.value_or(false) || large;
}

void Connections::send_missed(Peer& peer, int socket) {
  if (const auto missed = std::exchange(peer.missed, std::nullopt))
    send_wake_up(socket, *missed ? kLargeMessage : kMessage);
}

void Connections::ready(int socket, Woken& woken) {
  const auto found = open_.find(socket);
  if (found == open_.end()) return;
  Connection& connection = found->second;
  const bool open = connection.peer < 0 ? greet(socket, connection) : drain(socket, connection, woken);
  if (!open) ended(socket);
}

/// Takes the hello, and no more: what follows it makes the socket ready again.
bool Connections::greet(int socket, Connection& connection) {
  const auto rest = std::as_writable_bytes(std::span(&connection.hello, 1)).subspan(connection.heard);
  const std::ptrdiff_t got = sockets_.receive(socket, rest);
  if (got <= 0) return got == Sockets::kNothingYet;
  connection.heard += static_cast<std::size_t>(got);
  if (connection.heard < sizeof(Hello)) return true;
  // Anybody may connect to a port; who does not know the cookie is no process of this communicator.
  const Hello& hello = connection.hello;
  if (hello.cookie != directory_.mine().cookie || hello.rank < 0 || hello.rank >= directory_.size()) return false;
  connection.peer = static_cast<int>(hello.rank);
  Peer& peer = peer_of(connection.peer);
  peer.incoming = socket;
  send_missed(peer, socket);
  apply(connection.peer, PeerEvent::kHello);
  return true;
}

bool Connections::drain(int socket, Connection& connection, Woken& woken) {
  std::array<char, 256> came;
  while (true) {
    const std::ptrdiff_t got = sockets_.receive(socket, std::as_writable_bytes(std::span(came)));
    if (got <= 0) return got == Sockets::kNothingYet;
    const auto leaving = std::count(came.begin(), came.begin() + got, kLeave);
    connection.took_leave = connection.took_leave || leaving > 0;
    woken.all += static_cast<int>(got - leaving);
    woken.large |= std::memchr(came.data(), kLargeMessage, static_cast<std::size_t>(got)) != nullptr;
    if (got < std::ssize(came)) return true;
  }
}

void Connections::ended(int socket) {
  const Connection connection = open_.extract(socket).mapped();
  sockets_.close(socket);
  if (connection.peer < 0) return;
  Peer& peer = peer_of(connection.peer);
  if (peer.outgoing == socket) peer.outgoing = -1;
  if (peer.incoming == socket) peer.incoming = -1;
  apply(connection.peer, PeerEvent::kEnded, connection.took_leave);
}

void Connections::close() {
  for (const auto& [socket, connection] : open_) {
    send_wake_up(socket, kLeave);
    sockets_.close(socket);
  }
  open_.clear();
  for (int rank = 0; rank < directory_.size(); ++rank) {
    peer_of(rank).outgoing = peer_of(rank).incoming = -1;
    apply(rank, PeerEvent::kClosed);
  }
}

}  // namespace plait::transport::connections
