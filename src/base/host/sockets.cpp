#include "base/host/sockets.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstddef>

namespace plait::base::host {

namespace {

constexpr unsigned kMaxSilence = 9000;  // ms; as long as the keep-alive probes: 3 s, then 2 intervals of 3 s

}  // namespace

LocalAddress::LocalAddress(std::string_view text) {
  address.sun_family = AF_UNIX;
  text = text.substr(0, kMaxBytes);
  std::copy(text.begin(), text.end(), address.sun_path + 1);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

void keep_alive(int socket) {
  const auto set = [socket](int level, int name, int value) {
    ::setsockopt(socket, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 3);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 3);
  set(IPPROTO_TCP, TCP_KEEPCNT, 2);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

bool is_silent(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  // The kernel probes a full window at growing intervals. It sends a second probe only if the first one was not
  // answered.
  return info.tcpi_last_ack_recv >= kMaxSilence && (info.tcpi_retransmits >= 2 || info.tcpi_probes >= 2);
}

void set_send_buffer(int socket, std::size_t bytes) {
  const int size = static_cast<int>(bytes);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

}  // namespace plait::base::host
