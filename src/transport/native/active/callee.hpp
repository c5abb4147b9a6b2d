/// Receives the calls of one rank to this process, and sends the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "transport/active_messages.hpp"
#include "transport/native/active/connection.hpp"
#include "transport/native/active/peer_events.hpp"
#include "transport/native/active/wire.hpp"

namespace plait::transport::native {

/// The payload of a call is received only when the service provides memory for it.  Until then it and later frames stay
/// in the socket.
/// threads  Any, except where a function states otherwise.
class Callee : public EventHandler, private FrameTaker, public std::enable_shared_from_this<Callee> {
 public:
  /// References that all callees of an ActiveEnd share.
  struct Common {
    PeerEvents& events;
    ActiveMessages& active;
    CallService& service;
    EventLoop& loop;
  };

  explicit Callee(const Common& common) : common_(common) {}

  /// The four functions that follow are called on the server's thread.  open() registers the socket.
  /// errors  std::bad_alloc, Error: the socket cannot be registered.
  void open(base::Descriptor socket, bool near);
  void on_event(std::uint32_t events) override;
  void end() noexcept;
  void leave(const FrameHead& last) noexcept { connection_->leave(last); }

  void take(std::span<std::byte> into, std::function<void(bool)> done);
  void answer(std::uint64_t call, std::span<const std::byte> data, std::function<void()> sent);
  void reject(std::uint64_t call, const CallFailure& failure);
  void report_loss(int lost);
  bool is_silent() const { return connection_->is_silent(); }
  bool far() const { return !connection_->near(); }

 private:
  /// State of the payload of a call.
  enum class Payload : std::uint8_t {
    kNone,
    kOffered,  ///< the service has been called
    kAwaited,  ///< the service has returned without memory, so receiving has stopped
    kTaken,    ///< the service has provided memory, into which it is received
  };

  std::optional<std::size_t> prefix_bytes(const FrameHead& head) override;
  std::optional<std::span<std::byte>> begun(const FrameHead& head, std::span<const std::byte> prefix) override;
  void whole(const FrameHead& head) override;
  std::optional<std::span<std::byte>> arrived(const FrameHead& head, std::span<const std::byte> prefix);
  void received(Connection::ReceiveResult result);
  void resume();
  void report(ActiveFrame what, std::uint64_t tag);

  const Common common_;
  std::unique_ptr<Connection> connection_;
  int rank_ = -1;
  bool took_leave_ = false;

  std::mutex mutex_;  // protects the members below
  bool ended_ = false;
  Payload payload_ = Payload::kNone;
  std::span<std::byte> into_;
  std::function<void(bool)> done_;
};

}  // namespace plait::transport::native
