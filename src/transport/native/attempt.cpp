#include "transport/native/attempt.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include "base/host/sockets.hpp"
#include "base/wait/interruption.hpp"
#include "transport/native/hello.hpp"
#include "transport/native/retry_policy.hpp"
#include "transport/native/waiting.hpp"

namespace plait::transport::native {

namespace {

/// If the backlog of a local server is full, no event reports that the server accepts connections again, so
/// connect_socket() polls.
constexpr std::chrono::milliseconds kBacklogPollInterval{2};

/// Connects a non-blocking socket.  Returns 0 or an errno; ETIMEDOUT at the deadline.
int connect_socket(int socket, const sockaddr* name, socklen_t length, Clock::time_point until) {
  base::InterruptionTimer timer;
  while (::connect(socket, name, length) != 0) {
    if (errno == EISCONN) return 0;
    if (errno == EAGAIN) {
      if (Clock::now() + kBacklogPollInterval > until) return ETIMEDOUT;
      if (timer.is_due() && base::interrupted()) return EINTR;
      std::this_thread::sleep_for(kBacklogPollInterval);
    } else if (errno == EINPROGRESS || errno == EALREADY) {
      if (const int code = wait_for(socket, POLLOUT, until)) return code;
      int code = 0;
      socklen_t size = sizeof code;
      ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size);
      return code;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

AttemptResult failed_attempt(int code) {
  switch (code) {
    case ECONNREFUSED: return {{}, code, "no process listens there"};
    case ETIMEDOUT: return {{}, code, "no answer in time"};
    default: return {{}, code, std::strerror(code)};
  }
}

/// Returns the result of a handshake that was cut off.  server_proved: the server had proved that it knows the key.
AttemptResult failed_hello(int code, bool server_proved) {
  if (code == ETIMEDOUT) return {{}, code, "a program listens there, but did not answer as Plait does"};
  if (code == EINTR) return failed_attempt(code);
  const char* const why = server_proved
                              ? "the server there has closed the connection: it has too many callers, or has just ended"
                              : "the connection was closed before either had proved anything: that is another program, "
                                "or it has just ended";
  return {{}, code, why, /*was_closed=*/true};
}

/// Performs the handshake.
AttemptResult greet_server(base::Descriptor socket, const Key& key, Clock::time_point until) {
  const int number = socket.number();
  ClientHandshake handshake(key);
  bool server_proved = false;  // the server has proved that it knows the key
  if (const int code = send_all(number, handshake.hello(), until)) return failed_hello(code, server_proved);
  while (true) {
    const auto buffer = handshake.input_space();
    int code = receive_all(number, buffer, until);
    if (code == 0) {
      const ClientHandshake::Status status = handshake.process_input(buffer.size());
      if (status == ClientHandshake::Status::kAccepted) return {std::move(socket), 0, {}};
      if (status == ClientHandshake::Status::kFailed) return {{}, handshake.code(), handshake.why()};
      if (status == ClientHandshake::Status::kMore) continue;
      server_proved = true;
      code = send_all(number, handshake.proof(), until);
    }
    if (code != 0) return failed_hello(code, server_proved);
  }
}

AttemptResult connect_once(const Address& to, const Key& key, Clock::time_point until) {
  const auto* tcp = std::get_if<Address::Tcp>(&to.where);
  const base::host::LocalAddress local(tcp == nullptr ? std::get<Address::Local>(to.where).name : std::string());
  const SystemAddress remote(tcp == nullptr ? Address::Tcp{} : *tcp);
  const int family = tcp == nullptr ? AF_UNIX : remote.storage.ss_family;
  base::Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.number() < 0) return failed_attempt(errno);
  tcp == nullptr ? base::host::set_send_buffer(socket.number(), 2 * kMaxStream)
                 : base::host::keep_alive(socket.number());
  const int code = tcp == nullptr ? connect_socket(socket.number(), local.name(), local.length, until)
                                  : connect_socket(socket.number(), remote.name(), remote.length, until);
  return code != 0 ? failed_attempt(code) : greet_server(std::move(socket), key, until);
}

}  // namespace

AttemptResult connect_to_server(const Address& to, const Key& key, Clock::time_point until) {
  for (int tries = 1;; ++tries) {
    AttemptResult result = connect_once(to, key, until);
    const auto pause = tries * kRetryDelay;
    if (!result.was_closed || tries == kMaxTries || Clock::now() + pause > until) return result;
    base::sleep_for(pause);
  }
}

}  // namespace plait::transport::native
