/// The control connection of a reader: the writer announces steps on it, and the reader reports them as read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "pipe/board.hpp"
#include "pipe/protocol.hpp"
#include "transport/native/link.hpp"

namespace plait::pipe {

/// The reader's end, in its process 0: the connection to process 0 of the writer and, if both are on one host, the
/// board, shared memory that replaces most frames (board.hpp).
/// threads  One at a time.
class Announcements {
 public:
  explicit Announcements(std::unique_ptr<transport::native::Link> link) : link_(std::move(link)) {}

  transport::native::Link& link() { return *link_; }
  /// Maps the board that came with the last frame, if any.  processes: number of processes of both ends together.
  void map_board(std::int64_t processes);

  /// Waits for the writer's next message, and returns its kind and body: kStep, kEnd or kAborted, or another one if the
  /// peer is not a writer.  Calls check() a few times a second meanwhile.
  /// errors  As Link; those of check(), after which next() must not be called again: an answer is outstanding.
  Frame next(std::string& message, const std::function<void()>& check);
  /// Reports that the last step was read.  Ignores the loss of the writer, which next() reports.
  void finish();

 private:
  /// Sends kNext and waits for the answer.
  Frame request_step(std::string& message, const std::function<void()>& check);

  std::unique_ptr<transport::native::Link> link_;
  std::unique_ptr<Board> board_;
  bool may_poll_ = false;  // true if there are enough cores to poll the board
  Polling polling_;
  std::int64_t next_step_ = 0;  // the next step, if there is a board
};

}  // namespace plait::pipe
