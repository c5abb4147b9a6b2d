// One thread serves all connections of a process, by epoll.
//
// Problem: any host may connect, before it has proved that it knows the key, and any peer may stop reading. Neither may
// prevent that other peers are served, or exhaust the memory of this process.
//
// Idea: a connection passes through two tables. Until its handshake is done, it has memory of fixed size and a
// deadline; if the table is full, a new connection replaces the oldest one (UnauthenticatedConnections). After it, the
// connection is an OpenPeer with a bounded send queue: while the queue is full the loop does not read from that peer,
// so a peer that sends requests but does not read the answers only stops itself. Other threads never touch these
// tables; they post to the mailbox, which wakes epoll by an eventfd.
//
// Each iteration of run() handles events of sockets and the mailbox, then deadlines (check_deadlines): handshakes that
// have taken too long, the end of a pause of accept(), hosts that do not answer any more, and closing peers whose time
// is over. longest_sleep() is the time to the next of these deadlines.
//
// Example: accept() fails with EMFILE. pause_accepting() takes the listening sockets out of the set for kResourcePause
// (100 ms), so that epoll does not report them again and again; a handshake that ends meanwhile frees a descriptor and
// ends the pause.

#include "transport/native/serving/server_loop.hpp"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "base/errors.hpp"
#include "base/host/sockets.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::transport::native {

namespace {

constexpr std::uint64_t kMailboxId = 0;
constexpr std::uint64_t kLocalId = 1;
constexpr std::uint64_t kTcpId = 2;
/// Bit that marks the epoll data of peers; the other bits are the number of the peer.
constexpr std::uint64_t kPeerBit = std::uint64_t{1} << 63;
/// Bit that marks the epoll data of handlers.
constexpr std::uint64_t kHandlerBit = std::uint64_t{1} << 62;

/// Size of the receive buffer that all peers share.
constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
/// Pause of accept() when there are no descriptors or memory.
constexpr std::chrono::milliseconds kResourcePause{100};
/// Maximum number of connections accepted for one event, so that other sockets do not wait for long.
constexpr int kMaxAccepts = 16;
/// Interval of the checks for silent hosts.
constexpr std::chrono::seconds kHostCheckInterval{2};

}  // namespace

ServerLoop::ServerLoop(const Key& key, Users users, const Server::Options& options, Sockets sockets)
    : users_(std::move(users)),
      sockets_(std::move(sockets)),
      max_queued_(std::max<std::size_t>(options.max_queued, 1)),
      mailbox_(std::make_shared<Mailbox>()),
      set_(::epoll_create1(EPOLL_CLOEXEC)),
      unauthenticated_(key, static_cast<std::size_t>(std::max(1, options.max_unauthenticated)),
                       options.handshake_timeout),
      last_handler_(kHandlerBit),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {
  if (!watch(EPOLL_CTL_ADD, mailbox_->number(), kMailboxId, EPOLLIN) ||
      !watch(EPOLL_CTL_ADD, sockets_.local.socket.number(), kLocalId, EPOLLIN) ||
      !watch(EPOLL_CTL_ADD, sockets_.tcp.socket.number(), kTcpId, EPOLLIN)) {
    const int code = errno;
    base::throw_system_error(code, "cannot wait for connections: ", std::strerror(code));
  }
}

/// Changes the registration of a socket in the epoll set.  Does nothing, and returns true, if `socket` is -1.
bool ServerLoop::watch(int operation, int socket, std::uint64_t id, std::uint32_t events) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return socket < 0 || ::epoll_ctl(set_.number(), operation, socket, &event) == 0;
}

/// Returns the time to the next deadline in milliseconds, or -1 if there is none, for epoll_wait().
int ServerLoop::longest_sleep() const {
  Clock::time_point next = std::min(unauthenticated_.next_deadline(), taker_timer_);
  if (paused_) next = std::min(next, paused_until_);
  for (const std::uint64_t number : closing_)
    if (const auto found = peers_.find(number); found != peers_.end())
      next = std::min(next, found->second->close_deadline());
  if (remote_peers_ > 0) next = std::min(next, silent_hosts_checked_ + kHostCheckInterval);
  if (next == Clock::time_point::max()) return -1;
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, std::numeric_limits<int>::max()));
}

void ServerLoop::run() {
  std::array<epoll_event, 64> events;
  while (!mailbox_->is_stopping()) {
    const int found = ::epoll_wait(set_.number(), events.data(), static_cast<int>(events.size()), longest_sleep());
    for (int i = 0; i < found; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      dispatch(event.data.u64, event.events);
    }
    check_deadlines();
  }
  end_all();
}

void ServerLoop::dispatch(std::uint64_t id, std::uint32_t events) {
  if (id == kMailboxId) return handle_requests();
  if (id == kLocalId) return accept_from(sockets_.local.socket.number(), /*is_local=*/true);
  if (id == kTcpId) return accept_from(sockets_.tcp.socket.number(), /*is_local=*/false);
  if ((id & kPeerBit) != 0) return handle_peer(id & ~kPeerBit, events);
  if ((id & kHandlerBit) == 0) return receive_handshake(id);
  const auto found = handlers_.find(id);
  if (found != handlers_.end()) std::shared_ptr(found->second)->on_event(events);
}

Watch ServerLoop::register_handler(std::shared_ptr<EventHandler> handler) {
  handlers_.emplace(++last_handler_, std::move(handler));
  return {set_.number(), last_handler_};
}

void ServerLoop::handle_requests() {
  const Mailbox::Requests requests = mailbox_->take();
  for (const auto& function : requests.functions) function();
  if (requests.flush_all) {
    for (const auto& [number, peer] : peers_) flushing_.push_back(peer);
    for (const auto& peer : flushing_) flush_peer(*peer);
    flushing_.clear();
  }
  for (const std::uint64_t number : requests.peers_to_flush)
    if (const auto found = peers_.find(number); found != peers_.end()) flush_peer(*std::shared_ptr(found->second));
}

void ServerLoop::accept_from(int listener, bool is_local) {
  for (int accepted = 0; accepted < kMaxAccepts && !paused_; ++accepted)
    if (!accept_one(listener, is_local)) return;
}

/// Accepts one connection.  Returns false if no further one can be accepted now.
bool ServerLoop::accept_one(int listener, bool is_local) {
  const Clock::time_point now = Clock::now();
  if (!unauthenticated_.make_capacity(now)) {
    pause_accepting(unauthenticated_.next_capacity());
    return false;
  }
  base::Descriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.number() < 0) {
    const int code = errno;
    if (code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM) pause_accepting(now + kResourcePause);
    return code == EINTR || code == ECONNABORTED;
  }
  if (!is_local && !is_on_accepted_network(socket.number())) {
    ++rejected_;
    return true;
  }
  is_local ? base::host::set_send_buffer(socket.number(), 2 * kMaxStream) : base::host::keep_alive(socket.number());
  const std::uint64_t id = ++last_id_;
  // If the connection cannot be registered, the destructor of `socket` closes it.
  try {
    if (!watch(EPOLL_CTL_ADD, socket.number(), id, EPOLLIN)) return true;
    unauthenticated_.add(id, std::move(socket), is_local, now);
  } catch (const std::bad_alloc&) {
    pause_accepting(now + kResourcePause);
    return false;
  }
  return true;
}

/// Returns true if the connection arrived at one of the configured addresses.
bool ServerLoop::is_on_accepted_network(int socket) const {
  if (sockets_.network.empty()) return true;
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) != 0) return false;
  base::host::NetworkAddress address{};
  if (own.ss_family == AF_INET) {
    address[10] = address[11] = 0xff;
    std::memcpy(address.data() + 12, &reinterpret_cast<const sockaddr_in&>(own).sin_addr, 4);
  } else {
    std::memcpy(address.data(), &reinterpret_cast<const sockaddr_in6&>(own).sin6_addr, 16);
  }
  return std::find(sockets_.network.begin(), sockets_.network.end(), address) != sockets_.network.end();
}

void ServerLoop::pause_accepting(Clock::time_point until) {
  paused_ = true;
  paused_until_ = until;
  watch(EPOLL_CTL_MOD, sockets_.local.socket.number(), kLocalId, 0);
  watch(EPOLL_CTL_MOD, sockets_.tcp.socket.number(), kTcpId, 0);
}

void ServerLoop::resume_accepting() {
  paused_ = false;
  watch(EPOLL_CTL_MOD, sockets_.local.socket.number(), kLocalId, EPOLLIN);
  watch(EPOLL_CTL_MOD, sockets_.tcp.socket.number(), kTcpId, EPOLLIN);
}

void ServerLoop::receive_handshake(std::uint64_t id) {
  if (!unauthenticated_.has(id)) return;
  UnauthenticatedConnections::Outcome outcome = UnauthenticatedConnections::Outcome::kRejected;
  try {
    outcome = unauthenticated_.receive(id);
  } catch (const Error&) {  // the system gives no random bytes
    unauthenticated_.take(id);
    ++rejected_;
  }
  if (outcome == UnauthenticatedConnections::Outcome::kProved) open(unauthenticated_.take(id));
  // This connection has left the table, so accept() can continue.
  if (outcome != UnauthenticatedConnections::Outcome::kWaits && paused_)
    paused_until_ = std::min(paused_until_, Clock::now());
}

void ServerLoop::open(UnauthenticatedConnections::Entry connection) {
  const int socket = connection.socket.number();
  if (users_.taker) {
    watch(EPOLL_CTL_DEL, socket, 0, 0);
    return users_.taker->take(std::move(connection.socket), connection.is_local);
  }
  const std::uint64_t number = ++last_number_;
  try {
    const auto peer = std::make_shared<OpenPeer>(std::move(connection), number, max_queued_, mailbox_);
    peer->set_watched_events(EPOLLIN);
    // Reserve capacity for all peers now, so that later operations on the peer allocate no memory.
    closing_.reserve(peers_.size() + 1);
    flushing_.reserve(peers_.size() + 1);
    peers_.emplace(number, peer);
    users_.service->opened(peer);
    if (!peer->is_local()) ++remote_peers_;
  } catch (const std::bad_alloc&) {
    peers_.erase(number);  // its socket is closed
    return;
  }
  if (!watch(EPOLL_CTL_MOD, socket, kPeerBit | number, EPOLLIN)) end(number, "it cannot be waited for");
}

void ServerLoop::handle_peer(std::uint64_t number, std::uint32_t events) {
  const auto found = peers_.find(number);
  if (found == peers_.end()) return;
  const std::shared_ptr<OpenPeer> peer = found->second;
  if ((events & EPOLLOUT) != 0) flush_peer(*peer);
  if ((events & ~std::uint32_t{EPOLLOUT}) == 0 || peer->state() == OpenPeer::State::kGone) return;
  // The loop does not read from a throttled peer, so epoll would report its end again and again.
  if (peer->is_throttled() && (events & (EPOLLHUP | EPOLLERR)) != 0)
    return end(number, "it has closed the connection, or ended");
  if (const char* why = peer->receive(*users_.service, {buffer_.get(), kBufferBytes})) end(number, why);
}

void ServerLoop::flush_peer(OpenPeer& peer) {
  const bool open = peer.state() == OpenPeer::State::kOpen;
  if (const char* why = peer.flush()) return end(peer.number(), why);
  if (open && peer.state() != OpenPeer::State::kOpen) closing_.push_back(peer.number());
  const std::uint32_t events = (peer.is_throttled() ? 0U : EPOLLIN) | (peer.waits_for_socket() ? EPOLLOUT : 0U);
  if (events == peer.watched_events()) return;
  peer.set_watched_events(events);
  watch(EPOLL_CTL_MOD, peer.socket(), kPeerBit | peer.number(), events);
}

void ServerLoop::end(std::uint64_t number, const char* why) {
  const auto found = peers_.find(number);
  if (found == peers_.end()) return;
  const std::shared_ptr<OpenPeer> peer = std::move(found->second);
  peers_.erase(found);
  std::erase(closing_, number);
  if (!peer->is_local()) --remote_peers_;
  peer->end();
  try {
    users_.service->closed(peer, why);
  } catch (const std::bad_alloc&) {  // there is no memory for the text of the reason
    users_.service->closed(peer, {});
  }
}

void ServerLoop::check_silent_hosts(Clock::time_point now) {
  silent_hosts_checked_ = now;
  for (const auto& [number, peer] : peers_)
    if (!peer->is_local()) flushing_.push_back(peer);
  for (const auto& peer : flushing_)
    if (base::host::is_silent(peer->socket())) end(peer->number(), "its host does not answer");
  flushing_.clear();
}

void ServerLoop::check_deadlines() {
  const Clock::time_point now = Clock::now();
  unauthenticated_.expire(now);
  rejected_ += unauthenticated_.take_rejected();
  if (paused_ && paused_until_ <= now) resume_accepting();
  if (remote_peers_ > 0 && silent_hosts_checked_ + kHostCheckInterval <= now) check_silent_hosts(now);
  if (taker_timer_ <= now) {
    taker_timer_ = Clock::time_point::max();
    set_timer(users_.taker->on_timer(now));
  }
  for (std::size_t i = closing_.size(); i-- > 0;)
    if (const auto found = peers_.find(closing_[i]); found != peers_.end() && found->second->close_deadline() <= now)
      end(closing_[i], "it has been closed, and did not close in turn");
}

void ServerLoop::end_all() {
  unauthenticated_.clear();
  while (!peers_.empty()) {
    const auto peer = peers_.begin()->second;
    (void)peer->flush();  // sends what the socket accepts at once
    end(peer->number(), "this process has ended the connection");
  }
  if (users_.taker) users_.taker->end();
  handlers_.clear();
  sockets_ = {};
  // The callbacks above may have posted more functions: call them too. close() rejects further ones.
  for (const auto& function : mailbox_->close().functions) function();
}

}  // namespace plait::transport::native
