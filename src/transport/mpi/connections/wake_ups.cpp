#include "transport/mpi/connections/wake_ups.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>

namespace plait::transport::mpi {

namespace {

/// MPI is not used so long for a peer that has not been connected to, where no socket has led to another host yet.
constexpr std::chrono::seconds kHeld{1};
constexpr char kMessage = 1;
constexpr char kLargeMessage = 2;
constexpr char kLeave = 3;

char wake_up_of(bool large) { return large ? kLargeMessage : kMessage; }

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

WakeUps::WakeUps(MPI_Comm comm) : directory_(comm) {
  states_.assign(static_cast<std::size_t>(directory_.size()), ConnectionState::kUntried);
  listen();
  directory_.exchange();
  sure_ = set_ >= 0 && directory_.mine().local != 0;
  for (int peer = 0; peer < directory_.size(); ++peer) sure_ = sure_ && directory_.near(peer);
  watch_forks();
  // Whether sockets lead to other hosts is found out while all are there.
  trial_ = directory_.first_far();
  if (trial_ >= 0) begin_connecting(trial_, states_[static_cast<std::size_t>(trial_)]);
}

WakeUps::~WakeUps() {
  forget_forks();
  close();
  close_if_open(self_);
}

void WakeUps::close() {
  // Who has connected just now is told as well, rather than find this process ended.
  for (int* listener : {&local_, &network_}) {
    if (*listener >= 0) accept(*listener);
    close_if_open(*listener);
  }
  const std::scoped_lock lock(mutex_);
  for (auto& [peer, socket] : outgoing_) {
    send_wake_up(socket, kLeave);
    close_if_open(socket);
  }
  for (auto& [socket, connection] : accepted_) {
    send_wake_up(socket, kLeave);
    ::close(socket);
  }
  close_if_open(set_);
  attempts_.clear();
  outgoing_.clear();
  incoming_.clear();
  accepted_.clear();
  std::fill(states_.begin(), states_.end(), ConnectionState::kGone);
}

void WakeUps::listen() {
  Directory::Address& mine = directory_.mine();
  set_ = ::epoll_create1(EPOLL_CLOEXEC);
  self_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (set_ < 0) return;
  if (self_ >= 0) watch(self_);

  local_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (local_ >= 0) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = directory_.local_name(directory_.rank());
    std::copy(text.begin(), text.end(), name.sun_path + 1);  // without a file
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    mine.local = ::bind(local_, reinterpret_cast<sockaddr*>(&name), length) == 0 && ::listen(local_, SOMAXCONN) == 0;
    if (mine.local != 0) watch(local_);
  }
  network_ = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (network_ < 0) return;
  const int both = 0;
  ::setsockopt(network_, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_addr = in6addr_any;
  socklen_t length = sizeof any;
  if (::bind(network_, reinterpret_cast<sockaddr*>(&any), length) != 0 || ::listen(network_, SOMAXCONN) != 0 ||
      ::getsockname(network_, reinterpret_cast<sockaddr*>(&any), &length) != 0)
    return;
  const auto found = own_addresses();
  mine.addresses = static_cast<std::uint16_t>(std::min(found.size(), mine.network.size()));
  std::copy_n(found.begin(), mine.addresses, mine.network.begin());
  mine.port = ntohs(any.sin6_port);
  watch(network_);
}

void WakeUps::watch(int socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = socket;
  ::epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event);
}

WakeUps::Reach WakeUps::connect(int peer) {
  const std::scoped_lock lock(mutex_);
  ConnectionState& state = states_[static_cast<std::size_t>(peer)];
  const bool has_called = incoming_.count(peer) > 0;
  const bool begins = state == ConnectionState::kUntried && !has_called;
  if (begins) begin_connecting(peer, state);
  if ((begins || peer == trial_) && state == ConnectionState::kTrying && !has_called) held_.insert(peer);
  if (peer == trial_) trial_ = -1;  // it is asked for now
  if (state == ConnectionState::kGone) return Reach::kGone;
  return held_.count(peer) > 0 ? Reach::kNotYet : Reach::kReady;
}

bool WakeUps::there(int peer) {
  if (directory_.near(peer)) return true;
  const std::scoped_lock lock(mutex_);
  for (const auto& sockets : {std::cref(outgoing_), std::cref(incoming_)}) {
    const auto found = sockets.get().find(peer);
    if (found == sockets.get().end()) continue;
    pollfd state{found->second, POLLRDHUP, 0};
    return ::poll(&state, 1, 0) <= 0;
  }
  return states_[static_cast<std::size_t>(peer)] != ConnectionState::kGone;
}

/// Under the lock.
void WakeUps::begin_connecting(int peer, ConnectionState& state) {
  state = ConnectionState::kSilent;
  if (set_ < 0) return;
  if (directory_.near(peer)) {
    int code = 0;
    const int socket = open_local(directory_.local_name(peer), code);
    if (socket >= 0) {
      connected(peer, socket);
    } else if (code == ECONNREFUSED) {
      state = ConnectionState::kGone;  // somebody listened there: nobody does any more
    }
  } else if (auto names = directory_.network_names(peer); !names.empty()) {
    state = ConnectionState::kTrying;
    auto& attempt = attempts_[peer] = std::make_unique<ConnectionAttempt>(std::move(names));
    go_on(peer, *attempt);  // the handler does the rest
    wake_self();
  }
}

bool WakeUps::connected(int peer, int socket) {
  ConnectionState& state = states_[static_cast<std::size_t>(peer)];
  const Hello hello{directory_.of(peer).cookie, directory_.rank()};
  if (::send(socket, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
    ::close(socket);
    state = ConnectionState::kGone;
    return false;
  }
  state = ConnectionState::kConnected;
  outgoing_[peer] = socket;
  peers_[socket] = peer;
  watch(socket);
  if (const auto missed = missed_.extract(peer)) send_wake_up(socket, wake_up_of(missed.mapped()));
  return true;
}

/// Under the lock.
ConnectionAttempt::State WakeUps::go_on(int peer, ConnectionAttempt& attempt) {
  const ConnectionAttempt::State state = attempt.go_on(ConnectionAttempt::Clock::now());
  if (state == ConnectionAttempt::State::kTrying && attempt.socket() >= 0) {  // this or another one
    epoll_event event{};
    event.events = EPOLLOUT;
    event.data.fd = attempt.socket();
    ::epoll_ctl(set_, EPOLL_CTL_ADD, attempt.socket(), &event);
  }
  if (state == ConnectionAttempt::State::kThere) {
    const int socket = attempt.release();
    ::epoll_ctl(set_, EPOLL_CTL_DEL, socket, nullptr);
    keep_alive(socket);
    if (connected(peer, socket)) led_away_ = true;
  }
  return state;
}

bool WakeUps::attempts(int socket) {
  const std::scoped_lock lock(mutex_);
  return std::any_of(attempts_.begin(), attempts_.end(),
                     [socket](const auto& one) { return one.second->socket() == socket; });
}

void WakeUps::go_on_connecting() {
  std::vector<int> lost;
  std::vector<int> left;
  std::vector<int> ready;
  const auto early = ConnectionAttempt::Clock::now() - kHeld;
  {
    const std::scoped_lock lock(mutex_);
    for (auto one = attempts_.begin(); one != attempts_.end();) {
      const auto& [peer, attempt] = *one;
      // One that has connected, or whose peer has hung up in the other direction, is over.
      ConnectionState& state = states_[static_cast<std::size_t>(peer)];
      const bool open = state == ConnectionState::kTrying;
      const ConnectionAttempt::State outcome = open ? go_on(peer, *attempt) : ConnectionAttempt::State::kThere;
      const bool over = outcome != ConnectionAttempt::State::kTrying;
      const bool unconnected =
          over && (outcome != ConnectionAttempt::State::kThere || (open && state == ConnectionState::kGone));
      const bool has_called = incoming_.count(peer) > 0;  // so it is there, whatever keeps this process from calling it
      bool undecided = false;
      if (unconnected && peer == trial_) {
        state = ConnectionState::kUntried;
      } else if (unconnected && (has_called || !led_away_ || outcome == ConnectionAttempt::State::kUnable)) {
        state = ConnectionState::kSilent;  // what keeps sockets off may let MPI through
      } else if (outcome == ConnectionAttempt::State::kLost) {
        undecided = true;
        lost.push_back(peer);
      } else if (unconnected) {
        state = ConnectionState::kGone;
        left.push_back(peer);
      }
      if (over && peer == trial_) trial_ = -1;
      // Where sockets lead to other hosts, one that they do not lead to may be lost: MPICH 5.0.2 crashes in the next
      // send to it once it has noticed that.
      const bool released = over || has_called || (attempt->since() < early && !led_away_);
      if (released && !undecided && held_.erase(peer) > 0) ready.push_back(peer);
      one = over ? attempts_.erase(one) : std::next(one);
    }
  }
  for (const int peer : lost) {
    const bool alive = heard && heard(peer);
    const std::scoped_lock lock(mutex_);
    states_[static_cast<std::size_t>(peer)] = alive ? ConnectionState::kSilent : ConnectionState::kGone;
    if (!alive) left.push_back(peer);
    if (held_.erase(peer) > 0) ready.push_back(peer);
  }
  for (const int peer : left)
    if (gone) gone(peer, false);
  for (const int peer : ready)
    if (reached) reached(peer);
}

void WakeUps::send_wake_up(int socket, char wake_up) {
  // One that finds no room is one of hundreds that have not been heard.
  ::send(socket, &wake_up, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void WakeUps::wake(int peer, bool large) noexcept try {
  const std::scoped_lock lock(mutex_);
  if (const auto found = outgoing_.find(peer); found != outgoing_.end())
    return send_wake_up(found->second, wake_up_of(large));
  if (const auto found = incoming_.find(peer); found != incoming_.end())
    return send_wake_up(found->second, wake_up_of(large));
  missed_[peer] |= large;
} catch (const std::bad_alloc&) {  // the message is found all the same, only later
}

void WakeUps::wake_self() {
  if (self_ < 0 || woken_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(self_, &one, sizeof one);
}

void WakeUps::accept(int listener) {
  while (true) {
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0 && (errno == ECONNABORTED || errno == EINTR)) continue;
    if (socket < 0) return;
    if (listener == network_) keep_alive(socket);
    const std::scoped_lock lock(mutex_);
    accepted_[socket] = {};
    watch(socket);
  }
}

bool WakeUps::greet(int socket, IncomingConnection& connection) {
  auto* const rest = reinterpret_cast<char*>(&connection.hello) + connection.heard;
  const ssize_t got = ::recv(socket, rest, sizeof(Hello) - connection.heard, MSG_DONTWAIT);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  connection.heard += static_cast<std::size_t>(got);
  if (connection.heard < sizeof(Hello)) return true;
  const bool known = connection.hello.cookie == directory_.mine().cookie && connection.hello.rank >= 0 &&
                     connection.hello.rank < static_cast<std::int64_t>(states_.size());
  if (!known) {
    connection.heard = 0;
    return false;
  }
  incoming_[connection.peer()] = socket;
  if (const auto missed = missed_.extract(connection.peer())) send_wake_up(socket, wake_up_of(missed.mapped()));
  return true;
}

bool WakeUps::drain(int socket, Woken& woken) {
  const std::scoped_lock lock(mutex_);
  const auto connection = accepted_.find(socket);
  if (connection != accepted_.end() && connection->second.peer() < 0) return greet(socket, connection->second);
  std::array<char, 256> came;
  while (true) {
    const ssize_t got = ::recv(socket, came.data(), came.size(), MSG_DONTWAIT);
    if (got > 0) {
      const auto leaving = std::count(came.begin(), came.begin() + got, kLeave);
      if (leaving > 0) leaving_.insert(socket);
      woken.all += static_cast<int>(got - leaving);
      woken.large |= std::memchr(came.data(), kLargeMessage, static_cast<std::size_t>(got)) != nullptr;
    }
    if (got == static_cast<ssize_t>(came.size()) || (got < 0 && errno == EINTR)) continue;
    return got > 0 || (got < 0 && errno == EAGAIN);
  }
}

WakeUps::Woken WakeUps::wait(std::chrono::microseconds longest) {
  if (set_ < 0) {  // nothing to sleep on
    ::poll(nullptr, 0, std::max(1, static_cast<int>(longest.count() / 1000)));
    return {};
  }
  std::array<epoll_event, 32> events;
  const timespec limit{static_cast<time_t>(longest.count() / 1'000'000),
                       static_cast<long>(longest.count() % 1'000'000) * 1000};
#ifdef SYS_epoll_pwait2
  const auto found = static_cast<int>(
      ::syscall(SYS_epoll_pwait2, set_, events.data(), static_cast<int>(events.size()), &limit, nullptr, 0));
#else
  pollfd ready{set_, POLLIN, 0};
  int found = ::ppoll(&ready, 1, &limit, nullptr);
  if (found > 0) found = ::epoll_wait(set_, events.data(), static_cast<int>(events.size()), 0);
#endif
  Woken woken;
  for (int i = 0; i < found; ++i) {
    const int socket = events[static_cast<std::size_t>(i)].data.fd;
    if (attempts(socket)) continue;
    if (socket == self_) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto got = ::read(self_, &count, sizeof count);
      woken_ = false;  // a ring in between finds this thread awake
      continue;
    }
    if (socket == local_ || socket == network_) {
      accept(socket);
      continue;
    }
    if (drain(socket, woken)) continue;
    int peer = -1;
    bool took_leave = false;
    {
      const std::scoped_lock lock(mutex_);
      took_leave = leaving_.erase(socket) > 0;
      if (const auto called = peers_.find(socket); called != peers_.end()) {
        peer = called->second;
        peers_.erase(called);
        outgoing_.erase(peer);
        states_[static_cast<std::size_t>(peer)] = ConnectionState::kGone;
      } else if (const auto connection = accepted_.find(socket); connection != accepted_.end()) {
        peer = connection->second.peer();
        if (peer >= 0) incoming_.erase(peer);
        if (peer >= 0) states_[static_cast<std::size_t>(peer)] = ConnectionState::kGone;
        accepted_.erase(connection);
      }
      ::close(socket);
    }
    if (peer >= 0 && gone) gone(peer, took_leave);
  }
  go_on_connecting();
  return woken;
}

}  // namespace plait::transport::mpi
