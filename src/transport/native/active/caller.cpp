// Calls to one rank: a queue of waiting calls, and a bounded list of calls under way.
//
// A call waits until the connection exists and the peer has sent kWelcome. start_waiting() then moves it to started_
// and sends its frame, up to max_slots_ calls at a time. A call ends when its frame has been sent and its answer has
// arrived (end_part), because until then the connection uses the memory of the payload or of the answer.
//
// Example with max_slots_ = 2: calls 1, 2 and 3 arrive; 1 and 2 are sent with tags 1 and 2. The answer to tag 2 arrives
// first: call 2 ends, and call 3 is sent with tag 3.
//
// Locks: receiving_ is held while bytes are received into callers' memory, and is locked before mutex_. mutex_ is not
// held while frames are sent or `done` is called, because the callbacks lock it.

#include "transport/native/active/caller.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include "base/wait/retry_allocation.hpp"
#include "transport/native/active/wire.hpp"

namespace plait::transport::native {

bool Caller::call(Call call) {
  CallList added;
  added.emplace_back(std::move(call));
  FrameList frames;
  std::shared_ptr<Connection> connection;
  bool connect = false;
  {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::kGone) {
      waiting_.splice(waiting_.end(), added);
      connect = begin_connecting();
      start_waiting(frames);
      connection = connection_;
    }
  }
  for (const Pending& failed : added) failed.call.done(&why_gone_);  // not protected: it does not change after kGone
  if (!frames.empty()) connection->send(frames);
  return connect;
}

void Caller::cancel(const void* request, const CallFailure& why) noexcept {
  CallList failed;
  {
    const std::scoped_lock receiving(receiving_);  // after this, nothing is received into a caller's memory
    const std::scoped_lock lock(mutex_);
    for (auto pending = waiting_.begin(); pending != waiting_.end();) {
      const auto next = std::next(pending);
      if (pending->call.request == request) failed.splice(failed.end(), waiting_, pending);
      pending = next;
    }
    for (Pending& pending : started_)
      if (pending.call.request == request) detach(pending, failed);
  }
  for (const Pending& pending : failed) pending.call.done(&why);
}

/// Moves a call that is under way to the list `detached`.  A substitute stays in started_: it has a copy of the payload
/// and other memory for the answer, so that the connection can finish the frames that it has begun.  Both locks must be
/// held.  Returns false, and changes nothing, if that is impossible now.
bool Caller::detach(Pending& pending, CallList& detached) noexcept {
  CallList moved;
  std::shared_ptr<std::vector<std::byte>> memory;
  const Call& call = pending.call;
  const std::size_t payload_bytes = pending.sent ? 0 : call.payload.size();
  std::function<void(const CallFailure*)> ended;
  try {
    memory = std::make_shared<std::vector<std::byte>>(payload_bytes + call.output.size());
    ended = [memory](const CallFailure*) {};  // frees the memory when the substitute ends
    moved.emplace_back(Call{});
  } catch (const std::bad_alloc&) {
    return false;
  }
  const std::span<std::byte> payload = std::span(*memory).first(payload_bytes);
  const std::span<std::byte> output = std::span(*memory).subspan(payload_bytes);
  std::copy_n(call.payload.begin(), payload_bytes, payload.begin());
  // If the queue of the connection does not have the frame, it is just being queued, or has just been sent.
  if (payload_bytes > 0 && !connection_->replace_body(pending.tag, payload)) return false;
  connection_->redirect(pending.tag, output);
  moved.front().call = std::exchange(pending.call, Call{call.to, call.head, payload, output, std::move(ended)});
  detached.splice(detached.end(), moved);
  return true;
}

bool Caller::watch() {
  const std::scoped_lock lock(mutex_);
  return begin_connecting();
}

/// Returns true if the owner must begin an attempt.  mutex_ must be locked.
bool Caller::begin_connecting() {
  if (state_ != State::kDisconnected) return false;
  state_ = State::kConnecting;
  return true;
}

void Caller::on_unreachable(const CallFailure& why) {
  CallList failed;
  {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::kConnecting) return;
    state_ = State::kDisconnected;
    failed.swap(waiting_);
  }
  for (const Pending& pending : failed) pending.call.done(&why);
}

void Caller::on_connected(base::Descriptor socket, bool is_local, const Watch& watch, int own_rank) {
  FrameList introduction(1);
  introduction.front().head = frame_head(ActiveFrame::kIntroduction, static_cast<std::uint64_t>(own_rank));
  auto connection = std::make_shared<Connection>(std::move(socket), is_local, watch);
  {
    const std::scoped_lock lock(mutex_);
    if (state_ == State::kGone) return;
    connection_ = connection;
  }
  connection->send(introduction);
}

void Caller::on_welcome() {
  FrameList frames;
  std::shared_ptr<Connection> connection;
  {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::kConnecting) return;
    state_ = State::kConnected;
    start_waiting(frames);
    connection = connection_;
  }
  if (!frames.empty()) connection->send(frames);
}

bool Caller::discard_unserved() noexcept {
  const std::scoped_lock receiving(receiving_);
  std::shared_ptr<Connection> connection;
  {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::kConnecting || has_taken_leave_) return false;
    connection.swap(connection_);
  }
  if (connection) connection->close();
  return connection != nullptr;
}

/// Moves waiting calls to started_, and their frames to `frames`, which are to be sent after mutex_ is unlocked.
/// mutex_ must be locked.
void Caller::start_waiting(FrameList& frames) {
  while (state_ == State::kConnected && !waiting_.empty() && std::ssize(started_) < max_slots_) {
    started_.splice(started_.end(), waiting_, waiting_.begin());
    Pending& pending = started_.back();
    const std::uint64_t tag = pending.tag = ++last_tag_;
    OutgoingFrame& frame = pending.frame.front();
    const Call& call = pending.call;
    const WireCall wire{call.head, static_cast<std::int64_t>(call.output.size())};
    frame.head = frame_head(ActiveFrame::kCall, tag, sizeof wire + call.payload.size());
    std::memcpy(frame.prefix.data(), &wire, sizeof wire);
    frame.prefix_bytes = sizeof wire;
    frame.body = call.payload;
    frame.sent = [this, tag] { end_part(tag, CallPart::kSent); };
    frames.splice(frames.end(), pending.frame);
  }
}

/// Finds a call under way.  mutex_ must be locked.  A linear search is fast, because the oldest calls, which come
/// first, are usually answered first.
Caller::CallList::iterator Caller::find(std::uint64_t tag) {
  return std::find_if(started_.begin(), started_.end(), [tag](const Pending& pending) { return pending.tag == tag; });
}

void Caller::end_part(std::uint64_t tag, CallPart part) {
  CallList ended;
  FrameList frames;
  std::shared_ptr<Connection> connection;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = find(tag);
    if (found == started_.end()) return;
    (part == CallPart::kAnswered ? found->answered : found->sent) = true;
    if (!found->answered || !found->sent) return;
    ended.splice(ended.end(), started_, found);
    start_waiting(frames);
    connection = connection_;
  }
  if (!frames.empty()) connection->send(frames);
  const Pending& pending = ended.front();
  pending.call.done(pending.failure ? &*pending.failure : nullptr);
}

void Caller::on_event(std::uint32_t events, bool on_server_thread) {
  std::unique_lock receiving(receiving_, std::defer_lock);
  if (on_server_thread) {
    receiving.lock();
  } else if (!receiving.try_lock()) {
    return;
  }
  const auto open = connection();
  if (!open) return;
  if ((events & EPOLLOUT) != 0) open->flush();
  const bool ended = open->receive(*this) == Connection::ReceiveResult::kEnded;
  const bool has_taken_leave = has_taken_leave_;
  receiving.unlock();
  // Only the server's thread handles the end of the connection; epoll reports it to that thread too.
  if (ended && on_server_thread) events_.on_ended(nullptr, rank_, has_taken_leave);
}

std::optional<std::size_t> Caller::prefix_bytes(const FrameHead& head) {
  switch (static_cast<ActiveFrame>(head.kind)) {
    case ActiveFrame::kAnswer: {
      const std::scoped_lock lock(mutex_);
      const auto found = find(head.tag);
      if (found == started_.end() || found->call.output.size() != head.bytes) return std::nullopt;
      return 0;
    }
    case ActiveFrame::kRejection:
      if (head.bytes < sizeof(WireRejection)) return std::nullopt;
      return head.bytes;
    case ActiveFrame::kWelcome:
    case ActiveFrame::kLeaving:
    case ActiveFrame::kLost: return 0;
    default: return std::nullopt;
  }
}

std::optional<std::span<std::byte>> Caller::on_begun(const FrameHead& head, std::span<const std::byte> prefix) {
  const auto kind = static_cast<ActiveFrame>(head.kind);
  const std::scoped_lock lock(mutex_);
  const auto found = find(head.tag);
  if (found == started_.end()) return std::span<std::byte>();
  if (kind == ActiveFrame::kAnswer) return found->call.output;
  if (kind != ActiveFrame::kRejection) return std::span<std::byte>();
  WireRejection wire;
  std::memcpy(&wire, prefix.data(), sizeof wire);
  const auto text = prefix.subspan(sizeof wire);
  base::retry_allocation("record why a call failed", [&] {
    found->failure = CallFailure{static_cast<ErrorKind>(wire.kind), wire.code,
                                 std::string(reinterpret_cast<const char*>(text.data()), text.size())};
  });
  return std::span<std::byte>();
}

void Caller::on_complete(const FrameHead& head) {
  switch (static_cast<ActiveFrame>(head.kind)) {
    case ActiveFrame::kAnswer:
    case ActiveFrame::kRejection: return end_part(head.tag, CallPart::kAnswered);
    case ActiveFrame::kWelcome: return on_welcome();
    case ActiveFrame::kLeaving: has_taken_leave_ = true; return;
    case ActiveFrame::kLost: return events_.on_loss(static_cast<int>(head.tag), rank_);
    default: return;
  }
}

void Caller::end(CallFailure why) noexcept {
  const std::scoped_lock receiving(receiving_);  // after this, nothing is received into a caller's memory
  CallList failed;
  std::shared_ptr<Connection> connection;
  {
    const std::scoped_lock lock(mutex_);
    if (state_ == State::kGone) return;
    state_ = State::kGone;
    why_gone_ = std::move(why);
    connection.swap(connection_);
    failed.swap(started_);
    failed.splice(failed.end(), waiting_);
  }
  if (connection) connection->close();
  for (const Pending& pending : failed) pending.call.done(&why_gone_);
}

void Caller::leave(const FrameHead& last) noexcept {
  if (const auto open = connection()) open->leave(last);
}

void Caller::report_loss(int lost) {
  const auto open = connection();
  if (!open) return;
  FrameList frames = base::retry_allocation("report a loss", [] { return FrameList(1); });
  frames.front().head = frame_head(ActiveFrame::kLost, static_cast<std::uint64_t>(lost));
  open->send(frames);
}

std::shared_ptr<Connection> Caller::connection() const {
  const std::scoped_lock lock(mutex_);
  return connection_;
}

bool Caller::is_silent() const {
  const auto open = connection();
  return open && open->is_silent();
}

bool Caller::is_remote() const {
  const auto open = connection();
  return open && !open->is_local();
}

}  // namespace plait::transport::native
