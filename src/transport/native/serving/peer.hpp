/// A connection after its handshake, at the server.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "base/process.hpp"
#include "transport/native/server.hpp"
#include "transport/native/serving/frame_reader.hpp"
#include "transport/native/serving/mailbox.hpp"
#include "transport/native/serving/output.hpp"
#include "transport/native/serving/unauthenticated.hpp"

namespace plait::transport::native {

class OpenPeer final : public Peer, public std::enable_shared_from_this<OpenPeer> {
 public:
  enum class State : std::uint8_t {
    kOpen,
    kClosing,   ///< the send queue is being sent, and input is discarded
    kFinished,  ///< the queue is empty; the peer is expected to close
    kGone,      ///< the socket is closed
  };
  static constexpr std::chrono::seconds kCloseTimeout{1};

  /// max_queued: as in Server::Options.
  OpenPeer(UnauthenticatedConnections::Entry proved, std::uint64_t number, std::size_t max_queued,
           std::shared_ptr<Mailbox> mailbox)
      : number_(number),
        is_local_(proved.is_local),
        max_queued_(max_queued),
        mailbox_(std::move(mailbox)),
        output_(std::move(proved.socket), is_local_) {}

  std::uint64_t number() const override { return number_; }
  bool is_local() const override { return is_local_; }
  void send(FrameHead head, std::span<const std::byte> body, int descriptor) override;
  void stream(FrameHead head, std::uint64_t bytes, Produce produce, std::function<void(bool)> ended) override;
  void close() override;

  // The functions below are called on the server's thread.

  State state() const { return state_; }
  int socket() const { return output_.number(); }
  /// Returns the time when a closing connection is closed even if frames are still queued.
  Clock::time_point close_deadline() const { return close_deadline_; }
  /// Begins to close if close() was called, and sends from the queue.  Returns the reason if the connection has ended,
  /// otherwise nullptr.
  const char* flush();
  /// Returns true if flush() must be called when the socket accepts data again.
  bool waits_for_socket() const { return waits_for_socket_; }
  /// Returns true while the server does not read from the peer because its send queue is full.  Updated by flush().
  bool is_throttled() const { return is_throttled_; }
  /// Receives frames, but only a limited number, so that other peers do not wait.  Returns the same as flush().
  const char* receive(Service& service, std::span<std::byte> buffer);
  /// Closes the socket.
  void end();
  /// Returns the events that the server loop has registered with epoll.
  std::uint32_t watched_events() const { return watched_events_; }
  void set_watched_events(std::uint32_t events) { watched_events_ = events; }

 private:
  std::shared_ptr<Peer> self() { return shared_from_this(); }

  const std::uint64_t number_;
  const bool is_local_;
  const std::size_t max_queued_;
  const base::Owner owner_;
  const std::shared_ptr<Mailbox> mailbox_;
  std::atomic<bool> closing_{false};  // close() was called
  Output output_;

  State state_ = State::kOpen;
  Clock::time_point close_deadline_ = Clock::time_point::max();
  bool waits_for_socket_ = false;
  bool is_throttled_ = false;
  std::uint32_t watched_events_ = 0;
  FrameReader reader_;
};

}  // namespace plait::transport::native
