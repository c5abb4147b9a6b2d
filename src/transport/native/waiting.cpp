#include "transport/native/waiting.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>

#include "transport/native/interruption.hpp"

namespace plait::transport::native {

int wait_for(int socket, short events, Clock::time_point until) {
  pollfd one{socket, events, 0};
  while (true) {
    const auto now = Clock::now();
    const Clock::duration rest = std::clamp<Clock::duration>(until - now, Clock::duration::zero(), kInterval);
    timespec left{};
    left.tv_nsec = static_cast<long>(std::chrono::nanoseconds(rest).count());
    const int found = ::ppoll(&one, 1, &left, nullptr);
    if (found > 0) return 0;
    if (found < 0 && errno != EINTR) return errno;
    if (found == 0 && until <= now + rest) return ETIMEDOUT;
    if (interrupted()) return EINTR;
  }
}

int send_all(int socket, std::span<const std::byte> bytes, Clock::time_point until) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (const int code = wait_for(socket, POLLOUT, until)) return code;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int receive_all(int socket, std::span<std::byte> into, Clock::time_point until) {
  while (!into.empty()) {
    const ssize_t got = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
    if (got == 0) return ECONNRESET;
    if (got > 0) {
      into = into.subspan(static_cast<std::size_t>(got));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (const int code = wait_for(socket, POLLIN, until)) return code;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace plait::transport::native
