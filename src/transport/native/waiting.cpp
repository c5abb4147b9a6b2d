#include "transport/native/waiting.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>

namespace plait::transport::native {

int wait_for(int socket, short events, Clock::time_point until) {
  pollfd one{socket, events, 0};
  while (true) {
    timespec left{};
    if (until != Clock::time_point::max()) {
      const auto rest = std::max(until - Clock::now(), Clock::duration::zero());
      const auto seconds = std::chrono::floor<std::chrono::seconds>(rest);
      left.tv_sec = static_cast<time_t>(seconds.count());
      left.tv_nsec = static_cast<long>(std::chrono::nanoseconds(rest - seconds).count());
    }
    const int found = ::ppoll(&one, 1, until == Clock::time_point::max() ? nullptr : &left, nullptr);
    if (found > 0) return 0;
    if (found == 0) return ETIMEDOUT;
    if (errno != EINTR) return errno;
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
