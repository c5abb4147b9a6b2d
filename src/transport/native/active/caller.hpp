/// The calls of this process to one rank, and the connection that carries them.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/active_messages.hpp"
#include "transport/native/active/connection.hpp"
#include "transport/native/active/peer_events.hpp"

namespace plait::transport::native {

/// At most `max_slots` calls are under way at a time; others are queued.  The owner, an ActiveEnd, makes the
/// connection.
/// threads  Any, except where a function states otherwise.
class Caller : private FrameTaker {
 public:
  static constexpr int kMaxSlots = 32;

  Caller(PeerEvents& events, int rank, int max_slots) : events_(events), rank_(rank), max_slots_(max_slots) {}

  /// Fails the calls of a request, as ActiveMessages::cancel.
  void cancel(const void* request, const CallFailure& why) noexcept;
  /// Queues a call.  Returns true if the owner must begin to connect.  errors  std::bad_alloc: nothing has changed.
  bool call(Call call);
  /// Requests a connection without a call, so that the end of the rank is noticed.  Returns true if the owner must
  /// begin to connect.
  bool watch();
  /// Handles a failed attempt: queued calls fail, and a later call begins a new attempt.
  void on_unreachable(const CallFailure& why);
  /// Handles a successful attempt; `own_rank` is the rank of this process.  Calls are sent after the peer has announced
  /// by kWelcome that it serves them.  errors  std::bad_alloc, Error: the connection cannot be used.
  void on_connected(base::Descriptor socket, bool is_local, const Watch& watch, int own_rank);
  /// Handles events of the connection.  on_server_thread: true on the server's thread, which also handles the end.
  void on_event(std::uint32_t events, bool on_server_thread);
  /// Discards a connection that ended before the peer served it, so that no call was sent on it.  Returns true if there
  /// was such a connection, and the owner must connect again.  Called on the server's thread.
  bool discard_unserved() noexcept;
  /// Fails all calls, present and future.  Called on the server's thread.
  void end(CallFailure why) noexcept;
  /// Announces on the connection, if there is one, that this process leaves.  Called on the server's thread.
  void leave(const FrameHead& last) noexcept;
  void report_loss(int lost);
  bool is_silent() const;
  bool is_remote() const;

 private:
  enum class State : std::uint8_t { kDisconnected, kConnecting, kConnected, kGone };
  /// A call under way.
  struct Pending {
    explicit Pending(Call sent_call) : call(std::move(sent_call)), frame(1) {}
    Call call;
    FrameList frame;  // the frame of the call, until start_waiting() takes it
    std::uint64_t tag = 0;
    bool sent = false;  // the frame has been sent
    bool answered = false;
    std::optional<CallFailure> failure;
  };
  using CallList = std::list<Pending>;

  std::optional<std::size_t> prefix_bytes(const FrameHead& head) override;
  std::optional<std::span<std::byte>> on_begun(const FrameHead& head, std::span<const std::byte> prefix) override;
  void on_complete(const FrameHead& head) override;

  bool detach(Pending& pending, CallList& detached) noexcept;
  bool begin_connecting();
  void start_waiting(FrameList& frames);
  CallList::iterator find(std::uint64_t tag);
  void on_welcome();
  /// A call ends when both parts have ended: its frame was sent, and its answer was received.
  enum class CallPart : std::uint8_t { kSent, kAnswered };
  void end_part(std::uint64_t tag, CallPart part);
  std::shared_ptr<Connection> connection() const;

  PeerEvents& events_;
  const int rank_;
  const int max_slots_;

  std::mutex receiving_;  // held while bytes are received; locked before mutex_
  bool has_taken_leave_ = false;

  mutable std::mutex mutex_;  // protects the members below
  State state_ = State::kDisconnected;
  CallFailure why_gone_;
  std::shared_ptr<Connection> connection_;
  std::uint64_t last_tag_ = 0;
  CallList waiting_;  // calls whose frames have not been given to the connection
  CallList started_;  // calls under way, with ascending tags
};

}  // namespace plait::transport::native
