#include "transport/native/serving/listeners.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/errors.hpp"
#include "base/host/sockets.hpp"
#include "transport/native/random.hpp"

namespace plait::transport::native {

namespace {

constexpr int kNoIpv6 = EAFNOSUPPORT;  // the errno of socket() if the kernel has no IPv6

/// Creates the socket of a listener, binds it to a port of all addresses and listens.  Returns 0 or an errno.
int listen_at(TcpListener& listener, std::uint16_t port) {
  const int family = listener.ipv6 ? AF_INET6 : AF_INET;
  base::Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.number() < 0) return errno;
  const int on = 1;
  const int off = 0;
  // Makes a port available again as soon as its server has ended.
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in6 v6{};
  sockaddr_in v4{};
  sockaddr* any = reinterpret_cast<sockaddr*>(&v4);
  socklen_t length = sizeof v4;
  if (listener.ipv6) {
    if (::setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) return kNoIpv6;
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    any = reinterpret_cast<sockaddr*>(&v6);
    length = sizeof v6;
  } else {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
  }
  if (::bind(socket.number(), any, length) != 0 || ::listen(socket.number(), SOMAXCONN) != 0 ||
      ::getsockname(socket.number(), any, &length) != 0)
    return errno;
  listener.port = ntohs(listener.ipv6 ? v6.sin6_port : v4.sin_port);
  listener.socket = std::move(socket);
  return 0;
}

}  // namespace

LocalListener listen_locally() {
  std::array<std::byte, 16> random{};
  fill_random(random);
  LocalListener listener{base::Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
                         "plait-" + hexadecimal(random)};
  const base::host::LocalAddress address(listener.name);
  const int socket = listener.socket.number();
  if (socket < 0 || ::bind(socket, address.name(), address.length) != 0 || ::listen(socket, SOMAXCONN) != 0) {
    const int code = errno;
    base::throw_system_error(code, "cannot make a local socket: ", std::strerror(code));
  }
  return listener;
}

TcpListener listen_on_network(std::uint16_t first_port, std::uint16_t last_port) {
  TcpListener listener;
  int code = 0;
  for (std::uint32_t port = first_port; port <= last_port; ++port) {
    code = listen_at(listener, static_cast<std::uint16_t>(port));
    if (listener.ipv6 && (code == kNoIpv6 || code == EADDRNOTAVAIL)) {
      listener.ipv6 = false;
      code = listen_at(listener, static_cast<std::uint16_t>(port));
    }
    if (code == 0) return listener;
    if (code != EADDRINUSE) break;
  }
  if (code == EADDRINUSE && first_port != 0)
    base::throw_system_error(code, "all ports from ", first_port, " to ", last_port, " are taken; give a wider range");
  base::throw_system_error(code, "cannot make a TCP socket: ", std::strerror(code));
}

}  // namespace plait::transport::native
