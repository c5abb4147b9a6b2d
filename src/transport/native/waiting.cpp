#include "transport/native/waiting.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>

#include "base/host/sockets.hpp"
#include "base/wait/interruption.hpp"

namespace plait::transport::native {

int wait_for(int socket, short events, Clock::time_point until) {
  // Poll in slices: between them, check for interruptions, and for a lost host, which does not acknowledge what was
  // sent.
  pollfd state{socket, events, 0};
  while (true) {
    const auto remaining = std::max(until - Clock::now(), Clock::duration::zero());
    const bool is_last = remaining <= base::kBetweenInterruptions;
    const auto slice = is_last ? remaining : std::chrono::duration_cast<Clock::duration>(base::kBetweenInterruptions);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(slice);
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(seconds.count());
    timeout.tv_nsec = static_cast<long>(std::chrono::nanoseconds(slice - seconds).count());
    const int ready = ::ppoll(&state, 1, &timeout, nullptr);
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return errno;
    if (base::interrupted()) return EINTR;
    if (ready == 0 && is_last) return ETIMEDOUT;
    if (ready == 0 && base::host::is_silent(socket)) return EHOSTUNREACH;
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
