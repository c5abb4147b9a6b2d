/// The send queue of a peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/native/frame.hpp"
#include "transport/native/server.hpp"

namespace plait::transport::native {

/// Owns the socket of a connection.  send() writes to the socket from the calling thread if the queue is empty and the
/// socket accepts data.  Everything else is queued for flush().
///
/// threads  Any for send(), stream() and queued(); the server's for the others.
class Output {
 public:
  using Produce = Peer::Produce;
  using EndCallback = std::function<void(bool)>;

  enum class Outcome : std::uint8_t {
    kIdle,    ///< the queue is empty
    kFull,    ///< frames are queued; the socket may accept no more
    kBroken,  ///< the connection failed
  };

  Output(base::Descriptor socket, bool passes_descriptors)
      : socket_(std::move(socket)), passes_descriptors_(passes_descriptors) {}

  int number() const { return socket_.number(); }
  /// Returns the number of frames and streams in the queue.
  std::size_t queued();
  Outcome send(const FrameHead& head, std::span<const std::byte> body, int descriptor);
  /// Queues a stream (Peer::stream).  Moves from both functions, unless it returns kBroken.
  Outcome stream(const FrameHead& head, std::uint64_t bytes, Produce& produce, EndCallback& ended);
  /// Sends from the queue until the socket accepts no more, but at most a few MiB, because other peers wait for this
  /// thread.
  Outcome flush();
  void shut_down_sending();
  /// Closes the connection and calls `ended` of the streams.
  void close();

 private:
  /// A frame that is queued or partly sent.
  struct Frame {
    FrameHead head;
    std::unique_ptr<std::byte[]> copy;
    std::span<const std::byte> body;  // `copy`, or a piece of a stream
    base::Descriptor descriptor;      // is sent with the first byte
    std::size_t bytes_sent = 0;       // of head and body

    std::size_t bytes() const { return sizeof head + body.size(); }
  };
  struct Stream {
    FrameHead head;
    std::uint64_t bytes = 0;
    std::uint64_t produced = 0;
    Produce produce;
    EndCallback ended;
  };
  using Lock = std::unique_lock<std::mutex>;

  Outcome send_now(Lock& lock, const FrameHead& head, std::span<const std::byte> body, int descriptor);
  Outcome flush_some(Lock& lock);
  bool next_frame(Lock& lock);
  bool produce_piece(Lock& lock);
  void end_stream(Lock& lock, bool is_complete);
  void stop_writing();
  Outcome break_connection();
  Frame copy_frame(const FrameHead& head, std::span<const std::byte> body, int descriptor) const;
  /// Returns the number of bytes that the socket accepted, or -1 if the connection failed.
  std::ptrdiff_t write_some(const Frame& frame, int descriptor) const;
  bool is_queue_empty() const { return !has_current_ && frames_.empty() && streams_.empty(); }

  base::Descriptor socket_;
  const bool passes_descriptors_;

  std::mutex mutex_;  // protects the members below; current_ and piece_ belong to the thread that flushes
  bool closed_ = false;
  bool broken_ = false;
  bool writing_ = false;      // a thread is writing to the socket, without the lock
  bool has_current_ = false;  // current_ is a frame that is being sent, before all other frames
  Frame current_;
  std::unique_ptr<std::byte[]> piece_;  // memory for the current piece of the first stream
  std::deque<Frame> frames_;
  std::deque<Stream> streams_;
};

}  // namespace plait::transport::native
