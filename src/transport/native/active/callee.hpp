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
  /// What all callees of an ActiveEnd use.
  struct Common {
    PeerEvents& events;
    ActiveMessages& active;
    CallService& service;
    EventLoop& loop;
  };

  explicit Callee(const Common& common) : common_(common) {}

  /// The first four functions are called on the server's thread.  Registers the socket with the event loop.
  /// errors  std::bad_alloc, Error: the socket cannot be registered.
  void open(base::Descriptor socket, bool is_local);
  void on_event(std::uint32_t events) override;
  /// Closes the connection.
  void end() noexcept;
  /// Announces that this process leaves, with the frame `last`.
  void leave(const FrameHead& last) noexcept { connection_->leave(last); }

  /// These functions are those of ActiveMessages, for the calls of this rank.
  void receive_payload(std::span<std::byte> into, std::function<void(bool)> done);
  void answer(std::uint64_t call, std::span<const std::byte> data, std::function<void()> sent);
  void reject(std::uint64_t call, const CallFailure& failure);
  void report_loss(int lost);
  bool is_silent() const { return connection_->is_silent(); }
  bool is_remote() const { return !connection_->is_local(); }

 private:
  /// State of the payload of a call.
  enum class Payload : std::uint8_t {
    kNone,
    kOffered,  ///< the service has been called, and has not returned
    kAwaited,  ///< the service has returned without providing memory, so nothing more is received until it does
    kTaken,    ///< the service has provided memory, into which the payload is received
  };

  std::optional<std::size_t> prefix_bytes(const FrameHead& head) override;
  std::optional<std::span<std::byte>> on_begun(const FrameHead& head, std::span<const std::byte> prefix) override;
  void on_complete(const FrameHead& head) override;
  std::optional<std::span<std::byte>> begin_call(const FrameHead& head, std::span<const std::byte> prefix);
  void handle_result(Connection::ReceiveResult result);
  void resume();
  void send_bare_frame(ActiveFrame kind, std::uint64_t tag);

  const Common common_;
  std::unique_ptr<Connection> connection_;
  int rank_ = -1;
  bool has_taken_leave_ = false;

  std::mutex mutex_;  // protects the members below
  bool ended_ = false;
  Payload payload_ = Payload::kNone;
  std::span<std::byte> payload_memory_;
  std::function<void(bool)> payload_done_;
};

}  // namespace plait::transport::native
