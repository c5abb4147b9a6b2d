#include "transport/mpi/doorbells.hpp"

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

namespace plait::transport::mpi {

namespace {

/// MPI is not used so long for a peer that has not been connected to, where no socket has led to another host yet.
constexpr std::chrono::seconds kHeld{1};
constexpr char kBell = 1;
constexpr char kLargeBell = 2;
constexpr char kLeave = 3;

char bell_of(bool large) { return large ? kLargeBell : kBell; }

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

Doorbells::Doorbells(MPI_Comm comm) : directory_(comm) {
  ways_.assign(static_cast<std::size_t>(directory_.size()), Way::kUntried);
  listen();
  directory_.exchange();
  sure_ = set_ >= 0 && directory_.mine().local != 0;
  for (int peer = 0; peer < directory_.size(); ++peer) sure_ = sure_ && directory_.near(peer);
  watch_forks();
  // Whether sockets lead to other hosts is found out while all are there.
  trial_ = directory_.first_far();
  if (trial_ >= 0) begin_connecting(trial_, ways_[static_cast<std::size_t>(trial_)]);
}

Doorbells::~Doorbells() {
  forget_forks();
  close();
  close_if_open(self_);
}

void Doorbells::close() {
  // Who has connected just now is told as well, rather than find this process ended.
  for (int* listener : {&local_, &network_}) {
    if (*listener >= 0) accept(*listener);
    close_if_open(*listener);
  }
  const std::scoped_lock lock(mutex_);
  for (auto& [peer, socket] : outgoing_) {
    send_bell(socket, kLeave);
    close_if_open(socket);
  }
  for (auto& [socket, guest] : guests_) {
    send_bell(socket, kLeave);
    ::close(socket);
  }
  close_if_open(set_);
  approaches_.clear();
  outgoing_.clear();
  incoming_.clear();
  guests_.clear();
  std::fill(ways_.begin(), ways_.end(), Way::kGone);
}

void Doorbells::listen() {
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

void Doorbells::watch(int socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = socket;
  ::epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event);
}

Doorbells::Reach Doorbells::connect(int peer) {
  const std::scoped_lock lock(mutex_);
  Way& way = ways_[static_cast<std::size_t>(peer)];
  const bool has_called = incoming_.count(peer) > 0;
  const bool begins = way == Way::kUntried && !has_called;
  if (begins) begin_connecting(peer, way);
  if ((begins || peer == trial_) && way == Way::kTrying && !has_called) held_.insert(peer);
  if (peer == trial_) trial_ = -1;  // it is asked for now
  if (way == Way::kGone) return Reach::kGone;
  return held_.count(peer) > 0 ? Reach::kNotYet : Reach::kReady;
}

bool Doorbells::there(int peer) {
  if (directory_.near(peer)) return true;
  const std::scoped_lock lock(mutex_);
  for (const auto& sockets : {std::cref(outgoing_), std::cref(incoming_)}) {
    const auto found = sockets.get().find(peer);
    if (found == sockets.get().end()) continue;
    pollfd state{found->second, POLLRDHUP, 0};
    return ::poll(&state, 1, 0) <= 0;
  }
  return ways_[static_cast<std::size_t>(peer)] != Way::kGone;
}

/// Under the lock.
void Doorbells::begin_connecting(int peer, Way& way) {
  way = Way::kSilent;
  if (set_ < 0) return;
  if (directory_.near(peer)) {
    int code = 0;
    const int socket = open_local(directory_.local_name(peer), code);
    if (socket >= 0) {
      connected(peer, socket);
    } else if (code == ECONNREFUSED) {
      way = Way::kGone;  // somebody listened there: nobody does any more
    }
  } else if (auto names = directory_.network_names(peer); !names.empty()) {
    way = Way::kTrying;
    auto& approach = approaches_[peer] = std::make_unique<Approach>(std::move(names));
    go_on(peer, *approach);  // the handler does the rest
    ring_self();
  }
}

bool Doorbells::connected(int peer, int socket) {
  Way& way = ways_[static_cast<std::size_t>(peer)];
  const Hello hello{directory_.of(peer).cookie, directory_.rank()};
  if (::send(socket, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
    ::close(socket);
    way = Way::kGone;
    return false;
  }
  way = Way::kBelled;
  outgoing_[peer] = socket;
  peers_[socket] = peer;
  watch(socket);
  if (const auto missed = missed_.extract(peer)) send_bell(socket, bell_of(missed.mapped()));
  return true;
}

/// Under the lock.
Approach::State Doorbells::go_on(int peer, Approach& approach) {
  const Approach::State state = approach.go_on(Approach::Clock::now());
  if (state == Approach::State::kTrying && approach.socket() >= 0) {  // this or another one
    epoll_event event{};
    event.events = EPOLLOUT;
    event.data.fd = approach.socket();
    ::epoll_ctl(set_, EPOLL_CTL_ADD, approach.socket(), &event);
  }
  if (state == Approach::State::kThere) {
    const int socket = approach.release();
    ::epoll_ctl(set_, EPOLL_CTL_DEL, socket, nullptr);
    keep_alive(socket);
    if (connected(peer, socket)) led_away_ = true;
  }
  return state;
}

bool Doorbells::approaches(int socket) {
  const std::scoped_lock lock(mutex_);
  return std::any_of(approaches_.begin(), approaches_.end(),
                     [socket](const auto& one) { return one.second->socket() == socket; });
}

void Doorbells::approach() {
  std::vector<int> lost;
  std::vector<int> left;
  std::vector<int> ready;
  const auto early = Approach::Clock::now() - kHeld;
  {
    const std::scoped_lock lock(mutex_);
    for (auto one = approaches_.begin(); one != approaches_.end();) {
      const auto& [peer, approach] = *one;
      // One that has connected, or whose peer has hung up in the other direction, is over.
      Way& way = ways_[static_cast<std::size_t>(peer)];
      const bool open = way == Way::kTrying;
      const Approach::State state = open ? go_on(peer, *approach) : Approach::State::kThere;
      const bool over = state != Approach::State::kTrying;
      const bool unconnected = over && (state != Approach::State::kThere || (open && way == Way::kGone));
      const bool has_called = incoming_.count(peer) > 0;  // so it is there, whatever keeps this process from calling it
      bool undecided = false;
      if (unconnected && peer == trial_) {
        way = Way::kUntried;
      } else if (unconnected && (has_called || !led_away_ || state == Approach::State::kUnable)) {
        way = Way::kSilent;  // what keeps sockets off may let MPI through
      } else if (state == Approach::State::kLost) {
        undecided = true;
        lost.push_back(peer);
      } else if (unconnected) {
        way = Way::kGone;
        left.push_back(peer);
      }
      if (over && peer == trial_) trial_ = -1;
      // Where sockets lead to other hosts, one that they do not lead to may be lost: MPICH 5.0.2 crashes in the next
      // send to it once it has noticed that.
      const bool released = over || has_called || (approach->since() < early && !led_away_);
      if (released && !undecided && held_.erase(peer) > 0) ready.push_back(peer);
      one = over ? approaches_.erase(one) : std::next(one);
    }
  }
  for (const int peer : lost) {
    const bool alive = heard && heard(peer);
    const std::scoped_lock lock(mutex_);
    ways_[static_cast<std::size_t>(peer)] = alive ? Way::kSilent : Way::kGone;
    if (!alive) left.push_back(peer);
    if (held_.erase(peer) > 0) ready.push_back(peer);
  }
  for (const int peer : left)
    if (gone) gone(peer, false);
  for (const int peer : ready)
    if (reached) reached(peer);
}

void Doorbells::send_bell(int socket, char bell) {
  // A bell that finds no room is one of hundreds that have not been heard.
  ::send(socket, &bell, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Doorbells::ring(int peer, bool large) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = outgoing_.find(peer); found != outgoing_.end())
    return send_bell(found->second, bell_of(large));
  if (const auto found = incoming_.find(peer); found != incoming_.end())
    return send_bell(found->second, bell_of(large));
  missed_[peer] |= large;
}

void Doorbells::ring_self() {
  if (self_ < 0 || rung_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(self_, &one, sizeof one);
}

void Doorbells::accept(int listener) {
  while (true) {
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0 && (errno == ECONNABORTED || errno == EINTR)) continue;
    if (socket < 0) return;
    if (listener == network_) keep_alive(socket);
    const std::scoped_lock lock(mutex_);
    guests_[socket] = {};
    watch(socket);
  }
}

bool Doorbells::greet(int socket, Guest& guest) {
  auto* const place = reinterpret_cast<char*>(&guest.hello) + guest.heard;
  const ssize_t got = ::recv(socket, place, sizeof(Hello) - guest.heard, MSG_DONTWAIT);
  if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
  guest.heard += static_cast<std::size_t>(got);
  if (guest.heard < sizeof(Hello)) return true;
  const bool known = guest.hello.cookie == directory_.mine().cookie && guest.hello.rank >= 0 &&
                     guest.hello.rank < static_cast<std::int64_t>(ways_.size());
  if (!known) {
    guest.heard = 0;
    return false;
  }
  incoming_[guest.peer()] = socket;
  if (const auto missed = missed_.extract(guest.peer())) send_bell(socket, bell_of(missed.mapped()));
  return true;
}

bool Doorbells::drain(int socket, Rings& rings) {
  const std::scoped_lock lock(mutex_);
  const auto guest = guests_.find(socket);
  if (guest != guests_.end() && guest->second.peer() < 0) return greet(socket, guest->second);
  std::array<char, 256> bells;
  while (true) {
    const ssize_t got = ::recv(socket, bells.data(), bells.size(), MSG_DONTWAIT);
    if (got > 0) {
      const auto leaving = std::count(bells.begin(), bells.begin() + got, kLeave);
      if (leaving > 0) leaving_.insert(socket);
      rings.all += static_cast<int>(got - leaving);
      rings.large |= std::memchr(bells.data(), kLargeBell, static_cast<std::size_t>(got)) != nullptr;
    }
    if (got == static_cast<ssize_t>(bells.size()) || (got < 0 && errno == EINTR)) continue;
    return got > 0 || (got < 0 && errno == EAGAIN);
  }
}

Doorbells::Rings Doorbells::wait(std::chrono::microseconds longest) {
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
  Rings rings;
  for (int i = 0; i < found; ++i) {
    const int socket = events[static_cast<std::size_t>(i)].data.fd;
    if (approaches(socket)) continue;
    if (socket == self_) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto got = ::read(self_, &count, sizeof count);
      rung_ = false;  // a ring in between finds this thread awake
      continue;
    }
    if (socket == local_ || socket == network_) {
      accept(socket);
      continue;
    }
    if (drain(socket, rings)) continue;
    int peer = -1;
    bool took_leave = false;
    {
      const std::scoped_lock lock(mutex_);
      took_leave = leaving_.erase(socket) > 0;
      if (const auto called = peers_.find(socket); called != peers_.end()) {
        peer = called->second;
        peers_.erase(called);
        outgoing_.erase(peer);
        ways_[static_cast<std::size_t>(peer)] = Way::kGone;
      } else if (const auto guest = guests_.find(socket); guest != guests_.end()) {
        peer = guest->second.peer();
        if (peer >= 0) incoming_.erase(peer);
        if (peer >= 0) ways_[static_cast<std::size_t>(peer)] = Way::kGone;
        guests_.erase(guest);
      }
      ::close(socket);
    }
    if (peer >= 0 && gone) gone(peer, took_leave);
  }
  approach();
  return rings;
}

}  // namespace plait::transport::mpi
