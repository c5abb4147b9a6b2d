#include "transport/mpi/doorbells.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <random>

#include "base/text.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

namespace {

/// Longest wait for one address of a peer.
constexpr int kConnectMilliseconds = 1000;
constexpr char kBell = 1;
constexpr char kLargeBell = 2;

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

/// IPv4 addresses as IPv6 writes them, so that one kind of socket does for both; without those of the host itself.
std::vector<std::array<std::uint8_t, 16>> own_addresses() {
  std::vector<std::array<std::uint8_t, 16>> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    std::array<std::uint8_t, 16> address{};
    if (one->ifa_addr->sa_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
      if ((ntohl(v4->sin_addr.s_addr) >> 24U) == 127) continue;
      address[10] = address[11] = 0xff;
      std::memcpy(address.data() + 12, &v4->sin_addr, 4);
      found.insert(found.begin(), address);  // in front: they need no zone
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
      if (IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
      std::memcpy(address.data(), &v6->sin6_addr, 16);
      found.push_back(address);
    }
  }
  ::freeifaddrs(all);
  return found;
}

/// Finds a lost host within 20 s.
void keep_alive(int socket) {
  const auto set = [socket](int level, int name, int value) {
    ::setsockopt(socket, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 20000);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

}  // namespace

Doorbells::Doorbells(MPI_Comm comm) {
  int size = 1;
  check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  Address mine;
  std::random_device random;
  mine.cookie = (std::uint64_t{random()} << 32U) + random();
  addresses_.assign(static_cast<std::size_t>(size), mine);
  ways_.assign(static_cast<std::size_t>(size), Way::kUntried);
  listen();
  mine = addresses_[static_cast<std::size_t>(rank_)];
  check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, addresses_.data(), sizeof mine, MPI_BYTE, comm), "MPI_Allgather");
}

Doorbells::~Doorbells() {
  close();
  close_if_open(self_);
}

void Doorbells::close() {
  const std::scoped_lock lock(mutex_);
  for (auto& [peer, socket] : outgoing_) close_if_open(socket);
  for (auto& [socket, guest] : guests_) ::close(socket);
  for (int* one : {&local_, &network_, &set_}) close_if_open(*one);
  outgoing_.clear();
  incoming_.clear();
  guests_.clear();
  std::fill(ways_.begin(), ways_.end(), Way::kGone);
}

std::string Doorbells::local_name(std::uint64_t cookie) const { return base::text("plait-bell-", cookie); }

void Doorbells::listen() {
  Address& mine = addresses_[static_cast<std::size_t>(rank_)];
  std::ifstream("/proc/sys/kernel/random/boot_id")
      .read(mine.boot.data(), static_cast<std::streamsize>(mine.boot.size()) - 1);
  struct stat space{};
  if (::stat("/proc/self/ns/net", &space) == 0) mine.space = space.st_ino;
  set_ = ::epoll_create1(EPOLL_CLOEXEC);
  self_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (set_ < 0) return;
  if (self_ >= 0) watch(self_);

  local_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (local_ >= 0) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = local_name(mine.cookie);
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

int Doorbells::open_local(const Address& address, int& code) const {
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = local_name(address.cookie);
  std::copy(text.begin(), text.end(), name.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  if (made >= 0 && ::connect(made, reinterpret_cast<sockaddr*>(&name), length) == 0) return made;
  code = errno;
  if (made >= 0) ::close(made);
  return -1;
}

int Doorbells::open_network(const Address& address, int& code) const {
  code = EHOSTUNREACH;
  for (int i = 0; i < address.addresses; ++i) {
    const int made = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) {
      code = errno;
      return -1;
    }
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_port = htons(address.port);
    std::memcpy(&name.sin6_addr, address.network[static_cast<std::size_t>(i)].data(), 16);
    int error = ::connect(made, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      pollfd ready{made, POLLOUT, 0};
      socklen_t length = sizeof error;
      if (::poll(&ready, 1, kConnectMilliseconds) <= 0) {
        error = ETIMEDOUT;
      } else {
        ::getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &length);
      }
    }
    if (error == 0) {
      keep_alive(made);
      return made;
    }
    ::close(made);
    code = error;
    if (error == ECONNREFUSED) return -1;
  }
  return -1;
}

bool Doorbells::connect(int peer) {
  const std::scoped_lock lock(mutex_);
  Way& way = ways_[static_cast<std::size_t>(peer)];
  if (way != Way::kUntried) return way != Way::kGone;
  way = Way::kSilent;
  const Address& mine = addresses_[static_cast<std::size_t>(rank_)];
  const Address& theirs = addresses_[static_cast<std::size_t>(peer)];
  if (set_ < 0) return true;
  int code = 0;
  int socket = -1;
  const bool near = theirs.local != 0 && mine.boot == theirs.boot && mine.space == theirs.space;
  if (near) {
    socket = open_local(theirs, code);
  } else if (theirs.port != 0) {
    socket = open_network(theirs, code);
  }
  if (socket < 0) {
    // Somebody listened there: nobody does any more.
    if (code == ECONNREFUSED) way = Way::kGone;
    return way != Way::kGone;
  }
  const Hello hello{theirs.cookie, rank_};
  if (::send(socket, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
    ::close(socket);
    way = Way::kGone;
    return false;
  }
  way = Way::kBelled;
  outgoing_[peer] = socket;
  peers_[socket] = peer;
  watch(socket);
  return true;
}

void Doorbells::send_bell(int socket, bool large) {
  const char bell = large ? kLargeBell : kBell;
  // A bell that finds no room is one of hundreds that have not been heard.
  ::send(socket, &bell, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Doorbells::ring(int peer, bool large) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = outgoing_.find(peer); found != outgoing_.end()) return send_bell(found->second, large);
  if (const auto found = incoming_.find(peer); found != incoming_.end()) return send_bell(found->second, large);
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
  const bool known = guest.hello.cookie == addresses_[static_cast<std::size_t>(rank_)].cookie &&
                     guest.hello.rank >= 0 && guest.hello.rank < static_cast<std::int64_t>(ways_.size());
  if (!known) {
    guest.heard = 0;
    return false;
  }
  incoming_[guest.peer()] = socket;
  if (const auto missed = missed_.extract(guest.peer())) send_bell(socket, missed.mapped());
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
      rings.all += static_cast<int>(got);
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
    {
      const std::scoped_lock lock(mutex_);
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
    if (peer >= 0 && gone) gone(peer);
  }
  return rings;
}

}  // namespace plait::transport::mpi
