#include "transport/native/serving/unauthenticated.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace plait::transport::native {

namespace {

/// A connection is not replaced before 1 / kMinTimeFraction of the time limit of its handshake.
constexpr int kMinTimeFraction = 8;

/// Sends to a socket whose send buffer is still empty.  Returns false on failure.
bool answer(int socket, std::span<const std::byte> bytes) {
  while (true) {
    const ssize_t put = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0 || errno != EINTR) return put == static_cast<ssize_t>(bytes.size());
  }
}

}  // namespace

bool UnauthenticatedConnections::make_capacity(Clock::time_point now) {
  if (all_.size() < max_) return true;
  if (now < next_capacity()) return false;
  reject(all_.begin());
  return true;
}

Clock::time_point UnauthenticatedConnections::next_capacity() const {
  return all_.size() < max_ ? Clock::time_point::min() : all_.begin()->second.since + timeout_ / kMinTimeFraction;
}

void UnauthenticatedConnections::add(std::uint64_t id, base::Descriptor socket, bool is_local, Clock::time_point now) {
  all_.emplace_hint(all_.end(), id, Entry{std::move(socket), is_local, now, ServerHandshake(key_)});
}

UnauthenticatedConnections::Outcome UnauthenticatedConnections::receive(std::uint64_t id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return Outcome::kWaits;
  auto& [socket, is_local, since, handshake] = found->second;
  while (true) {
    const auto buffer = handshake.input_space();
    const ssize_t got = ::recv(socket.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Outcome::kWaits;
    const auto status =
        got > 0 ? handshake.process_input(static_cast<std::size_t>(got)) : ServerHandshake::Status::kReject;
    if (status == ServerHandshake::Status::kProved && answer(socket.number(), std::as_bytes(std::span(kAcceptance))))
      return Outcome::kProved;
    const bool answered = status == ServerHandshake::Status::kAnswer || status == ServerHandshake::Status::kReport
                              ? answer(socket.number(), handshake.answer())
                              : status == ServerHandshake::Status::kMore;
    if (answered && status != ServerHandshake::Status::kReport) continue;
    reject(found);
    return Outcome::kRejected;
  }
}

UnauthenticatedConnections::Entry UnauthenticatedConnections::take(std::uint64_t id) {
  return std::move(all_.extract(id).mapped());
}

void UnauthenticatedConnections::expire(Clock::time_point now) {
  while (!all_.empty() && all_.begin()->second.since + timeout_ <= now) reject(all_.begin());
}

Clock::time_point UnauthenticatedConnections::next_deadline() const {
  return all_.empty() ? Clock::time_point::max() : all_.begin()->second.since + timeout_;
}

void UnauthenticatedConnections::reject(std::map<std::uint64_t, Entry>::iterator connection) {
  all_.erase(connection);
  ++rejected_;
}

std::int64_t UnauthenticatedConnections::take_rejected() { return std::exchange(rejected_, 0); }

}  // namespace plait::transport::native
