#include "transport/connections/posix_sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "transport/host/sockets.hpp"

namespace plait::transport::connections {

PosixSockets::PosixSockets() : set_(::epoll_create1(EPOLL_CLOEXEC)) {}

int PosixSockets::take(int socket) {
  if (socket >= 0) open_[socket] = base::Descriptor(socket);
  return socket;
}

void PosixSockets::watch(int number) { watch(number, EPOLLIN); }

void PosixSockets::watch(int number, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = number;
  if (::epoll_ctl(set_.number(), EPOLL_CTL_ADD, number, &event) != 0 && errno == EEXIST)
    ::epoll_ctl(set_.number(), EPOLL_CTL_MOD, number, &event);
}

Sockets::Opened PosixSockets::open_local(const std::string& name) {
  // A local connection is there at once or never, but where hundreds wait to be accepted.
  const int socket = take(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket < 0) return {-1, errno, false};
  const host::LocalAddress to(name);
  if (::connect(socket, to.name(), to.length) != 0) {
    const int code = errno;
    close(socket);
    return {-1, code};
  }
  watch(socket);
  return {socket};
}

Sockets::Opened PosixSockets::open_network(const sockaddr_in6& address) {
  const int socket = take(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket < 0) return {-1, errno, false};
  const int code = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  if (code != 0 && code != EINPROGRESS) {
    close(socket);
    return {-1, code};
  }
  watch(socket, EPOLLOUT);
  return {socket, code};
}

int PosixSockets::outcome(int socket) {
  pollfd ready{socket, POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0) return EINPROGRESS;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

void PosixSockets::keep(int socket) {
  host::keep_alive(socket);
  host::limit_waiting(socket);
  watch(socket);
}

bool PosixSockets::send(int socket, std::span<const std::byte> bytes) {
  return ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) == std::ssize(bytes);
}

std::ptrdiff_t PosixSockets::receive(int socket, std::span<std::byte> into) {
  while (true) {
    const ssize_t got = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
    if (got >= 0) return got;
    if (errno != EINTR) return errno == EAGAIN ? kNothingYet : kEnd;
  }
}

bool PosixSockets::hung_up(int socket) {
  pollfd state{socket, POLLRDHUP, 0};
  return ::poll(&state, 1, 0) > 0;
}

int PosixSockets::listen_locally(const std::string& name) {
  const int socket = take(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket < 0) return -1;
  const host::LocalAddress own(name);
  if (::bind(socket, own.name(), own.length) != 0 || ::listen(socket, SOMAXCONN) != 0) {
    close(socket);
    return -1;
  }
  watch(socket);
  return socket;
}

int PosixSockets::listen_on_network(std::uint16_t& port) {
  const int socket = take(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket < 0) return -1;
  const int both = 0;
  ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_addr = in6addr_any;
  socklen_t length = sizeof any;
  if (::bind(socket, reinterpret_cast<sockaddr*>(&any), length) != 0 || ::listen(socket, SOMAXCONN) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&any), &length) != 0) {
    close(socket);
    return -1;
  }
  port = ntohs(any.sin6_port);
  watch(socket);
  return socket;
}

int PosixSockets::accept(int listener, bool from_network) {
  while (true) {
    const int socket = take(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket < 0 && (errno == ECONNABORTED || errno == EINTR)) continue;
    if (socket < 0) return -1;
    from_network ? keep(socket) : watch(socket);
    return socket;
  }
}

std::span<int> PosixSockets::wait(std::chrono::microseconds longest, std::span<int> ready) const {
  if (!usable()) {  // nothing to sleep on
    ::poll(nullptr, 0, std::max(1, static_cast<int>(longest.count() / 1000)));
    return {};
  }
  std::array<epoll_event, 32> events;
  const auto most = static_cast<int>(std::min(events.size(), ready.size()));
  const timespec limit{static_cast<time_t>(longest.count() / 1'000'000),
                       static_cast<long>(longest.count() % 1'000'000) * 1000};
#ifdef SYS_epoll_pwait2
  const auto found =
      static_cast<int>(::syscall(SYS_epoll_pwait2, set_.number(), events.data(), most, &limit, nullptr, 0));
#else
  pollfd any{set_.number(), POLLIN, 0};
  int found = ::ppoll(&any, 1, &limit, nullptr);
  if (found > 0) found = ::epoll_wait(set_.number(), events.data(), most, 0);
#endif
  for (int i = 0; i < found; ++i) ready[static_cast<std::size_t>(i)] = events[static_cast<std::size_t>(i)].data.fd;
  return ready.first(static_cast<std::size_t>(std::max(0, found)));
}

}  // namespace plait::transport::connections
