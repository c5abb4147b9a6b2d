/// How a reader hears of steps, and tells that it has read them.
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

/// Of the reader's process of rank 0: its connection to the writer's, and the board where both are on one host.
/// threads  One at a time.
class Announcements {
 public:
  explicit Announcements(std::unique_ptr<transport::native::Link> link) : link_(std::move(link)) {}

  transport::native::Link& link() { return *link_; }
  /// Takes the board that has come with the last frame, if one has.  processes: of both ends.
  void take_board(std::int64_t processes);

  /// Waits for what the writer says next, with its words: kStep, whose number is given, kEnd or kAborted; or anything
  /// else of one that is none.  check() is called a few times a second meanwhile.
  /// errors  As Link; what check() throws, after which nothing more can be asked.
  Frame next(std::string& words, const std::function<void()>& check);
  /// The last step has been read.  A writer that is lost is noticed at the next step.
  void finish();

 private:
  Frame ask(std::string& words, const std::function<void()>& check);

  std::unique_ptr<transport::native::Link> link_;
  std::unique_ptr<Board> board_;
  bool polls_ = false;
  Polling polling_;
  std::int64_t next_ = 0;  // the step that is begun next, where there is a board
};

}  // namespace plait::pipe
