/// The calls of one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "transport/active.hpp"
#include "transport/native/active/connection.hpp"
#include "transport/native/active/peer_events.hpp"
#include "transport/native/active/wire.hpp"

namespace plait::transport::native {

/// What a call brings along is received once the service takes it; what comes after it waits in the system meanwhile.
/// threads  Any, but for what says otherwise.
class Callee : public EventHandler, private FrameTaker, public std::enable_shared_from_this<Callee> {
 public:
  /// What all of an end have in common.
  struct Common {
    PeerEvents& events;
    Active& active;
    CallService& service;
    EventLoop& loop;
  };

  explicit Callee(const Common& common) : common_(common) {}

  /// On the server's thread, these four.  errors  std::bad_alloc, Error: it cannot be waited for.
  void open(base::Descriptor socket, bool near);
  void on_event(std::uint32_t events) override;
  void end() noexcept;
  void leave(const FrameHead& last) noexcept { connection_->leave(last); }

  void take(std::span<std::byte> into, std::function<void(bool)> done);
  void answer(std::uint64_t call, std::span<const std::byte> data, std::function<void()> sent);
  void reject(std::uint64_t call, const CallFailure& failure);
  void tell_loss(int lost);
  bool is_silent() const { return connection_->is_silent(); }
  bool far() const { return !connection_->near(); }

 private:
  /// What a call brings along.
  enum class Payload : std::uint8_t {
    kNone,
    kOffered,  ///< the service has been told of it
    kAwaited,  ///< the same, and nothing else can go on
    kTaken,    ///< it is coming to where the service wants it
  };

  std::optional<std::size_t> front_of(const FrameHead& head) override;
  std::optional<std::span<std::byte>> begun(const FrameHead& head, std::span<const std::byte> front) override;
  void whole(const FrameHead& head) override;
  std::optional<std::span<std::byte>> arrived(const FrameHead& head, std::span<const std::byte> front);
  void received(Connection::ReceiveResult how);
  void resume();
  void tell(ActiveFrame what, std::uint64_t tag);

  const Common common_;
  std::unique_ptr<Connection> connection_;
  int rank_ = -1;
  bool took_leave_ = false;

  std::mutex mutex_;  // of what follows
  bool gone_ = false;
  Payload payload_ = Payload::kNone;
  std::span<std::byte> into_;
  std::function<void(bool)> done_;
};

}  // namespace plait::transport::native
