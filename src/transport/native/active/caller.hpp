/// The calls to one rank.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/active.hpp"
#include "transport/native/active/connection.hpp"
#include "transport/native/active/peer_events.hpp"

namespace plait::transport::native {

/// At most `most_slots` calls are under way at a time; others stand in line.
/// threads  Any, but for what says otherwise.
class Caller : private FrameTaker {
 public:
  static constexpr int kMostSlots = 32;

  Caller(PeerEvents& events, int rank, int most_slots) : events_(events), rank_(rank), most_slots_(most_slots) {}

  /// Fails the calls of a request, as Active::cancel.
  void cancel(const void* request, const CallFailure& why) noexcept;
  /// Whether a connection is to be made: the first call says so.  errors  std::bad_alloc: nothing has been begun.
  bool call(Call call);
  /// The same without a call, to notice the end of the rank.
  bool watch();
  /// No connection is being made after all: a later call begins anew.  What waits fails.
  void unreachable(const CallFailure& why);
  /// The connection is there; `own` is the rank of this process.  Calls go once the other end has said that it serves
  /// them.  errors  std::bad_alloc, Error: it is not.
  void connected(base::Descriptor socket, bool near, const Watch& watch, int own);
  /// What epoll says of it.  `handler`: this is the server's thread, which also learns of its end.
  void on_event(std::uint32_t events, bool handler);
  /// Takes back a connection that has ended before the other end has said so: nothing has been called by it.  Returns
  /// whether there was one, and another is to be made.  On the server's thread.
  bool take_dropped() noexcept;
  /// Everything fails, now and later.  On the server's thread.
  void end(CallFailure why) noexcept;
  /// Tells the rank, where there is a connection, that this process hangs up.  On the server's thread.
  void leave(const FrameHead& last) noexcept;
  void tell_loss(int lost);
  bool is_silent() const;
  bool far() const;

 private:
  enum class State : std::uint8_t { kDisconnected, kConnecting, kConnected, kGone };
  /// A call under way.
  struct Pending {
    explicit Pending(Call of) : call(std::move(of)), frame(1) {}
    Call call;
    FrameLine frame;  // what is to be sent of it
    std::uint64_t tag = 0;
    bool sent = false;  // as far as this process is concerned
    bool answered = false;
    std::optional<CallFailure> failure;
  };
  using Line = std::list<Pending>;

  std::optional<std::size_t> front_of(const FrameHead& head) override;
  std::optional<std::span<std::byte>> begun(const FrameHead& head, std::span<const std::byte> front) override;
  void whole(const FrameHead& head) override;

  bool detach(Pending& pending, Line& detached) noexcept;
  bool begin_connecting();
  void start_waiting(FrameLine& frames);
  Line::iterator find(std::uint64_t tag);
  void welcomed();
  void part_ended(std::uint64_t tag, bool answer);
  std::shared_ptr<Connection> connection() const;

  PeerEvents& events_;
  const int rank_;
  const int most_slots_;

  std::mutex receiving_;  // taken before the other one
  bool took_leave_ = false;

  mutable std::mutex mutex_;  // of what follows
  State state_ = State::kDisconnected;
  CallFailure why_gone_;
  std::shared_ptr<Connection> connection_;
  std::uint64_t last_tag_ = 0;
  Line waiting_;
  Line under_way_;
};

}  // namespace plait::transport::native
