/// What is in line for a peer, and its way into the socket.
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

/// Owns the socket of a connection.  Frames go into it from the thread that sends them, where nothing is in line and it
/// has room; all else is for flush().
///
/// threads  send() and stream() any, the others that of the server.
class Output {
 public:
  using Produce = Peer::Produce;
  using Ended = std::function<void(bool)>;

  enum class Outcome : std::uint8_t {
    kIdle,    ///< nothing is left to do for flush()
    kFull,    ///< something is left; the socket may have no room
    kBroken,  ///< nothing can be sent any more
  };

  /// descriptors: whether the socket can pass them.
  Output(base::Descriptor socket, bool descriptors) : socket_(std::move(socket)), descriptors_(descriptors) {}

  int number() const { return socket_.number(); }
  /// Frames and streams that are not sent whole.  Any thread.
  std::size_t queued();
  Outcome send(const FrameHead& head, std::span<const std::byte> body, int descriptor);
  /// Takes both functions, unless it returns kBroken.
  Outcome stream(const FrameHead& head, std::uint64_t bytes, Produce& produce, Ended& ended);
  /// Sends what is in line, as far as the socket takes it, but for at most some MiB: others wait for this thread too.
  Outcome flush();
  /// Says that nothing follows.
  void finish();
  /// Ends the connection, and tells the streams.
  void close();

 private:
  /// A frame that waits, or that the socket has a part of.
  struct Frame {
    FrameHead head;
    std::unique_ptr<std::byte[]> own;
    std::span<const std::byte> body;  // `own`, or what a stream has produced
    base::Descriptor descriptor;      // goes along with the first byte
    std::size_t done = 0;

    std::size_t bytes() const { return sizeof head + body.size(); }
  };
  struct Stream {
    FrameHead head;
    std::uint64_t bytes = 0;
    std::uint64_t produced = 0;
    Produce produce;
    Ended ended;
  };
  using Lock = std::unique_lock<std::mutex>;

  Outcome send_now(Lock& lock, const FrameHead& head, std::span<const std::byte> body, int descriptor);
  Outcome flush_some(Lock& lock);
  bool next_frame(Lock& lock);
  bool produce_piece(Lock& lock);
  void end_stream(Lock& lock, bool whole);
  void stop_writing();
  Outcome give_up();
  Frame kept(const FrameHead& head, std::span<const std::byte> body, int descriptor) const;
  /// How many bytes the socket took; -1: it is broken.
  std::ptrdiff_t put(const Frame& frame, int descriptor) const;
  bool waiting() const { return in_part_ || !frames_.empty() || !streams_.empty(); }

  base::Descriptor socket_;
  const bool descriptors_;

  std::mutex mutex_;  // of what follows, but for what belongs to the one who writes
  bool closed_ = false;
  bool broken_ = false;
  bool writing_ = false;  // a thread is at the socket: if it flushes, current_ and piece_ are its own
  bool in_part_ = false;  // current_ is to be sent before all others
  Frame current_;
  std::unique_ptr<std::byte[]> piece_;  // of the first stream
  std::deque<Frame> frames_;
  std::deque<Stream> streams_;
};

}  // namespace plait::transport::native
