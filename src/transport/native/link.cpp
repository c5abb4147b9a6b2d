#include "transport/native/link.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "transport/native/attempt.hpp"
#include "transport/native/parts.hpp"
#include "transport/native/retry_policy.hpp"
#include "transport/native/waiting.hpp"

namespace plait::transport::native {

class Link::Impl {
 public:
  Impl(base::Descriptor socket, bool is_local, std::string name)
      : socket_(std::move(socket)), is_local_(is_local), name_(std::move(name)) {}

  bool is_local() const { return is_local_; }
  int number() const { return socket_.number(); }

  void send(FrameHead head, std::span<const std::span<const std::byte>> parts, Clock::time_point until) {
    head.bytes = 0;
    for (const auto& part : parts) head.bytes += part.size();
    if (head.bytes > kMaxReceive)
      base::throw_argument_error("a frame of ", head.bytes, " bytes; at most ", kMaxReceive,
                                 " are taken: send several");
    Parts unsent(std::as_bytes(std::span(&head, 1)), parts);
    msghdr message{};
    while (unsent.fill(message)) {
      const ssize_t put = ::sendmsg(usable_socket(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
      // Keep the socket open: data that the peer sent before it closed can still be received.
      if (put < 0 && (errno == EPIPE || errno == ECONNRESET))
        throw_error(ECONNRESET, "it has closed the connection, or ended");
      check_result(put, POLLOUT, until);
      if (put > 0) unsent.advance(static_cast<std::size_t>(put));
    }
  }

  FrameHead receive(Clock::time_point until) {
    if (unread_ > 0) base::throw_argument_error("the previous frame has ", unread_, " unread bytes");
    descriptor_.close();
    FrameHead head;
    auto into = std::as_writable_bytes(std::span(&head, 1));
    while (!into.empty()) {
      const ssize_t got = receive_some(into);
      check_received(got, until);
      if (got > 0) into = into.subspan(static_cast<std::size_t>(got));
    }
    unread_ = head.bytes;
    return head;
  }

  void receive_body(std::span<const std::span<std::byte>> parts, Clock::time_point until) {
    Parts missing({}, parts);
    if (missing.bytes() > unread_)
      base::throw_argument_error("the frame has ", unread_, " more bytes; ", missing.bytes(), " are to be taken");
    msghdr message{};
    while (missing.fill(message)) {
      const ssize_t got = ::recvmsg(usable_socket(), &message, MSG_DONTWAIT);
      check_received(got, until);
      if (got <= 0) continue;
      missing.advance(static_cast<std::size_t>(got));
      unread_ -= static_cast<std::size_t>(got);
    }
  }

  base::Descriptor take_descriptor() { return std::move(descriptor_); }

  bool is_closed_by_peer() const {
    pollfd state{socket_.number(), POLLRDHUP, 0};
    return socket_.number() < 0 || (::poll(&state, 1, 0) > 0 && state.revents != 0);
  }

 private:
  /// Returns the descriptor of the socket.  errors  kSystem: the connection has failed; kArgument: in a child process.
  int usable_socket() const {
    owner_.check("this connection", "connect anew in this process");
    if (socket_.number() < 0) base::throw_system_error(ECONNRESET, "the connection to ", name_, " has failed before");
    return socket_.number();
  }

  /// Receives bytes, and the descriptor that comes with the first byte of a frame on local sockets, if any.
  ssize_t receive_some(std::span<std::byte> into) {
    iovec part{into.data(), into.size()};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (is_local_) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
    }
    const ssize_t got = ::recvmsg(usable_socket(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
      int number = -1;
      if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
          header->cmsg_len < CMSG_LEN(sizeof number))
        continue;
      std::memcpy(&number, CMSG_DATA(header), sizeof number);
      descriptor_ = base::Descriptor(number);
    }
    return got;
  }

  void check_received(ssize_t got, Clock::time_point until) {
    if (got == 0) fail(ECONNRESET, "it has closed the connection, or ended");
    check_result(got, POLLIN, until);
  }

  /// Evaluates the result of a system call, and waits if it would have blocked.
  void check_result(ssize_t result, short events, Clock::time_point until) {
    if (result >= 0 || errno == EINTR) return;
    const int error = errno;
    if (error != EAGAIN && error != EWOULDBLOCK) fail(ECONNRESET, std::strerror(error));
    const int code = wait_for(socket_.number(), events, until);
    if (code == ETIMEDOUT) fail(ETIMEDOUT, "nothing moved in time");
    // After an interrupted receive, frames can still be sent. After an interrupted send they cannot: a part of a frame
    // may have been sent.
    if (code == EINTR && events == POLLIN) throw_error(EINTR, "this program has been interrupted");
    if (code == EINTR) fail(EINTR, "this program has been interrupted");
    if (code != 0) fail(ECONNRESET, std::strerror(code));
  }

  [[noreturn]] void fail(int code, const char* why) {
    socket_.close();
    throw_error(code, why);
  }

  [[noreturn]] void throw_error(int code, const char* why) const {
    base::throw_system_error(code, "the connection to ", name_, " cannot be used any more: ", why);
  }

  const base::Owner owner_;
  base::Descriptor socket_;
  const bool is_local_;
  const std::string name_;
  std::uint64_t unread_ = 0;     // bytes of the current body that have not been received
  base::Descriptor descriptor_;  // came with the current frame
};

namespace {

/// Pause between two rounds over the addresses of an unreachable host.
constexpr std::chrono::milliseconds kBetweenRounds{250};

/// The results of attempts to connect to the addresses of a process.
struct AttemptResults {
  std::string text;
  int code = ENXIO;       // the most specific code; ENXIO: no address could be tried
  bool is_silent = true;  // no address has answered
};

/// Ranks codes by how much they say: a wrong version, a wrong key, any other error, a refused connection, no address.
int specificity(int code) {
  return code == EPROTO ? 4 : code == EACCES ? 3 : code == ENXIO ? 0 : code == ECONNREFUSED ? 1 : 2;
}

bool is_unreachable(int code) {
  return code == EHOSTUNREACH || code == ENETUNREACH || code == ENETDOWN || code == EHOSTDOWN;
}

void record(AttemptResults& results, std::string_view address, std::string_view why, int code) {
  results.text += base::text(results.text.empty() ? "" : "; ", address, ": ", why);
  if (specificity(code) >= specificity(results.code)) results.code = code;
  results.is_silent = results.is_silent && (code == ENXIO || is_unreachable(code));
}

struct PeerSocket {
  base::Descriptor socket;
  bool is_local = false;
};

/// Tries the addresses once, in order, and records the results.
std::optional<PeerSocket> try_all(const Endpoints& to, const Key& key, Clock::time_point until,
                                  AttemptResults& results) {
  const bool on_this_host = to.is_on_this_host();
  for (std::size_t i = 0; i < to.addresses.size(); ++i) {
    const auto address = Address::parse(to.addresses[i]);
    if (!address || (address->is_local() && !on_this_host)) {
      record(results, to.addresses[i], address ? "only processes of its host reach that" : "no address", ENXIO);
      continue;
    }
    const auto now = Clock::now();
    const auto untried_addresses = static_cast<Clock::rep>(to.addresses.size() - i);
    const auto limit =
        until == Clock::time_point::max() ? until : now + std::max(until - now, Clock::duration(0)) / untried_addresses;
    AttemptResult made = connect_to_server(*address, key, limit);
    if (made.socket.number() >= 0) return PeerSocket{std::move(made.socket), address->is_local()};
    record(results, to.addresses[i], made.why, made.code);
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Link> Link::connect(const Endpoints& to, const Key& key, Clock::time_point until) {
  const auto last_round = std::min(until, Clock::now() + kLostAfter);
  while (true) {
    AttemptResults results;
    if (auto found = try_all(to, key, until, results))
      return std::unique_ptr<Link>(
          new Link(std::make_unique<Impl>(std::move(found->socket), found->is_local, to.name)));
    if (!results.is_silent || results.code == ENXIO || Clock::now() + kBetweenRounds > last_round)
      base::throw_system_error(results.code, "cannot connect to a process on ", to.name, ": ",
                               results.text.empty() ? "it has no address" : results.text);
    base::sleep_for(kBetweenRounds);
  }
}

Link::Link(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Link::~Link() = default;
bool Link::is_local() const { return impl_->is_local(); }
void Link::send(FrameHead head, std::span<const std::span<const std::byte>> parts, Clock::time_point until) {
  impl_->send(head, parts, until);
}
FrameHead Link::receive(Clock::time_point until) { return impl_->receive(until); }
void Link::receive_body(std::span<const std::span<std::byte>> parts, Clock::time_point until) {
  impl_->receive_body(parts, until);
}
base::Descriptor Link::take_descriptor() { return impl_->take_descriptor(); }
bool Link::is_closed_by_peer() const { return impl_->is_closed_by_peer(); }
int Link::number() const { return impl_->number(); }

}  // namespace plait::transport::native
