/// The control connection of a reader: steps arrive, and their completion is reported.
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

/// Used by process 0 of the reader: the connection to process 0 of the writer, and the board if both are on one host.
/// threads  One at a time.
class Announcements {
 public:
  explicit Announcements(std::unique_ptr<transport::native::Link> link) : link_(std::move(link)) {}

  transport::native::Link& link() { return *link_; }
  /// Maps the board that was sent with the last frame, if any.  processes: number of both ends.
  void take_board(std::int64_t processes);

  /// Waits for the next message of the writer, and returns it with its text: kStep with this number, kEnd or kAborted,
  /// or something else if the peer is no writer.  check() is called a few times a second meanwhile.
  /// errors  As Link; what check() throws, after which no request can be made.
  Frame next(std::string& message, const std::function<void()>& check);
  /// Reports that the last step was read.  A lost writer is noticed at the next step.
  void finish();

 private:
  Frame ask(std::string& message, const std::function<void()>& check);

  std::unique_ptr<transport::native::Link> link_;
  std::unique_ptr<Board> board_;
  bool polls_ = false;
  Polling polling_;
  std::int64_t next_ = 0;  // the next step, if there is a board
};

}  // namespace plait::pipe
