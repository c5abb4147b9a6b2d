#include "transport/mpi/connections/connection_attempt.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace plait::transport::mpi {

namespace {

/// Longest wait for one address; a packet or two may be lost meanwhile.
constexpr std::chrono::seconds kPatience{4};
/// Least time from one round of all addresses to the next.
constexpr std::chrono::seconds kRound{1};

}  // namespace

std::vector<NetworkAddress> own_addresses() {
  std::vector<NetworkAddress> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    NetworkAddress address{};
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

void keep_alive(int socket) {
  const auto set = [socket](int level, int name, int value) {
    ::setsockopt(socket, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 3);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 14000);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

int open_local(const std::string& name, int& code) {
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);  // without a file
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (made >= 0 && ::connect(made, reinterpret_cast<sockaddr*>(&address), length) == 0) return made;
  code = errno;
  if (made >= 0) ::close(made);
  return -1;
}

ConnectionAttempt::State ConnectionAttempt::go_on(Clock::time_point now) {
  while (true) {
    if (socket_ < 0 && now - first_ > kLostAfter)
      return refused_ ? State::kRefused : tried_ ? State::kLost : State::kUnable;
    if (socket_ < 0 && at_ == addresses_.size()) {
      // Of the addresses of one host, some may be another one's here: who refuses need not be the peer.
      if (refused_) return State::kRefused;
      if (now - round_ < kRound) return State::kTrying;
      round_ = now;
      at_ = 0;
    }
    const Step step = socket_ < 0 ? begin(now) : look(now);
    if (step == Step::kThere) return State::kThere;
    if (step == Step::kWait) return State::kTrying;
  }
}

ConnectionAttempt::Step ConnectionAttempt::begin(Clock::time_point now) {
  begun_ = now;
  socket_ = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return failed(errno);
  tried_ = true;
  const auto* name = reinterpret_cast<const sockaddr*>(&addresses_[at_]);
  if (::connect(socket_, name, sizeof addresses_[at_]) == 0) return Step::kThere;
  return errno == EINPROGRESS ? Step::kWait : failed(errno);
}

ConnectionAttempt::Step ConnectionAttempt::look(Clock::time_point now) {
  pollfd ready{socket_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0) return now - begun_ < kPatience ? Step::kWait : failed(ETIMEDOUT);
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &length);
  return error == 0 ? Step::kThere : failed(error);
}

ConnectionAttempt::Step ConnectionAttempt::failed(int code) {
  refused_ = refused_ || code == ECONNREFUSED;
  drop();
  ++at_;
  return Step::kNext;
}

int ConnectionAttempt::release() { return std::exchange(socket_, -1); }

void ConnectionAttempt::drop() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

}  // namespace plait::transport::mpi
