#include "transport/native/active/callee.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "base/wait/retry_allocation.hpp"
#include "transport/native/active/wire.hpp"

namespace plait::transport::native {

namespace {

/// Returns a list of one frame, whose body must stay valid until the frame has been sent.
FrameList make_frame(ActiveFrame kind, std::uint64_t tag, std::span<const std::byte> body) {
  FrameList frames(1);
  frames.front().head = frame_head(kind, tag, body.size());
  frames.front().body = body;
  return frames;
}

}  // namespace

void Callee::open(base::Descriptor socket, bool is_local) {
  const Watch watch = common_.loop.register_handler(shared_from_this());
  try {
    connection_ = std::make_unique<Connection>(std::move(socket), is_local, watch);
  } catch (...) {
    common_.loop.unregister(watch);
    throw;
  }
}

void Callee::on_event(std::uint32_t events) {
  const auto self = shared_from_this();
  if ((events & EPOLLOUT) != 0) connection_->flush();
  {
    // While a payload waits for memory, the frames stay in the socket; only the end of the connection is handled.
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    if (payload_ == Payload::kAwaited) events &= EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  }
  if ((events & EPOLLIN) != 0) return handle_result(connection_->receive(*this));
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) handle_result(Connection::ReceiveResult::kEnded);
}

void Callee::handle_result(Connection::ReceiveResult result) {
  if (result == Connection::ReceiveResult::kEnded) common_.events.on_ended(this, rank_, has_taken_leave_);
}

std::optional<std::size_t> Callee::prefix_bytes(const FrameHead& head) {
  const auto kind = static_cast<ActiveFrame>(head.kind);
  if ((rank_ < 0) != (kind == ActiveFrame::kIntroduction)) return std::nullopt;
  switch (kind) {
    case ActiveFrame::kIntroduction:
    case ActiveFrame::kLeaving:
    case ActiveFrame::kLost: return 0;
    case ActiveFrame::kCall:
      if (head.bytes < sizeof(WireCall) || head.bytes > sizeof(WireCall) + kMaxCallBytes) return std::nullopt;
      return sizeof(WireCall);
    default: return std::nullopt;
  }
}

std::optional<std::span<std::byte>> Callee::on_begun(const FrameHead& head, std::span<const std::byte> prefix) {
  if (static_cast<ActiveFrame>(head.kind) == ActiveFrame::kCall) return begin_call(head, prefix);
  return std::span<std::byte>();
}

std::optional<std::span<std::byte>> Callee::begin_call(const FrameHead& head, std::span<const std::byte> prefix) {
  WireCall wire;
  std::memcpy(&wire, prefix.data(), sizeof wire);
  const auto bytes = static_cast<std::int64_t>(head.bytes - sizeof wire);
  const Arrival arrival{rank_, head.tag, wire.head, bytes, wire.output_bytes};
  if (bytes == 0) {
    common_.service.on_call(common_.active, arrival);
    return std::span<std::byte>();
  }
  {
    const std::scoped_lock lock(mutex_);
    payload_ = Payload::kOffered;
  }
  common_.service.on_call(common_.active, arrival);
  const std::scoped_lock lock(mutex_);
  if (payload_ == Payload::kTaken) return payload_memory_;
  payload_ = Payload::kAwaited;
  return std::nullopt;
}

void Callee::receive_payload(std::span<std::byte> into, std::function<void(bool)> done) {
  bool has_ended = false;
  {
    const std::scoped_lock lock(mutex_);
    has_ended = ended_;
    if (!has_ended) {
      // Post before anything changes: post() may throw std::bad_alloc, and the caller then repeats the call.
      const bool needs_resume = payload_ == Payload::kAwaited;
      if (needs_resume && !common_.loop.post([self = shared_from_this()] { self->resume(); })) has_ended = true;
      if (!has_ended) {
        payload_ = Payload::kTaken;
        payload_memory_ = into;
        payload_done_.swap(done);
      }
    }
  }
  if (has_ended) done(false);
}

void Callee::resume() {
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
  }
  handle_result(connection_->resume(payload_memory_, *this));
}

void Callee::on_complete(const FrameHead& head) {
  switch (static_cast<ActiveFrame>(head.kind)) {
    case ActiveFrame::kIntroduction: {
      const auto rank = std::min<std::uint64_t>(head.tag, std::numeric_limits<int>::max());
      if (!common_.events.on_introduced(shared_from_this(), static_cast<int>(rank))) return;
      rank_ = static_cast<int>(rank);
      return send_bare_frame(ActiveFrame::kWelcome, 0);
    }
    case ActiveFrame::kLeaving: has_taken_leave_ = true; return;
    case ActiveFrame::kLost: return common_.events.on_loss(static_cast<int>(head.tag), rank_);
    default: break;
  }
  std::function<void(bool)> done;
  {
    const std::scoped_lock lock(mutex_);
    payload_ = Payload::kNone;
    done.swap(payload_done_);
  }
  if (done) done(true);
}

void Callee::answer(std::uint64_t call, std::span<const std::byte> data, std::function<void()> sent) {
  FrameList frames = make_frame(ActiveFrame::kAnswer, call, data);
  frames.front().sent = std::move(sent);
  connection_->send(frames);
}

void Callee::reject(std::uint64_t call, const CallFailure& failure) {
  const WireRejection wire{static_cast<std::int32_t>(failure.kind), failure.code};
  auto body = std::make_shared<std::string>(reinterpret_cast<const char*>(&wire), sizeof wire);
  body->append(failure.text, 0, kMaxPrefix - sizeof wire);
  FrameList frames = make_frame(ActiveFrame::kRejection, call, std::as_bytes(std::span(*body)));
  frames.front().sent = [body] {};  // keeps the body until it has been sent
  connection_->send(frames);
}

/// Sends a frame without a body.
void Callee::send_bare_frame(ActiveFrame kind, std::uint64_t tag) {
  FrameList frames = base::retry_allocation("notify a rank", [&] { return make_frame(kind, tag, {}); });
  connection_->send(frames);
}

void Callee::report_loss(int lost) { send_bare_frame(ActiveFrame::kLost, static_cast<std::uint64_t>(lost)); }

void Callee::end() noexcept {
  std::function<void(bool)> done;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(ended_, true)) return;
    done.swap(payload_done_);
  }
  common_.loop.unregister(connection_->watch());
  connection_->close();
  if (done) done(false);
}

}  // namespace plait::transport::native
