// Gets the writer's announcements of steps: from the shared board if it has the next step, otherwise by a kNext frame.

#include "pipe/reader/announcements.hpp"

#include <poll.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <span>

#include "base/host/sockets.hpp"
#include "collective/agree.hpp"
#include "pipe/reader/partners.hpp"
#include "plait/error.hpp"
#include "transport/native/waiting.hpp"

namespace plait::pipe {

namespace {

/// Interval between calls of `check` while the reader waits for a step.
constexpr std::chrono::milliseconds kCheckInterval{250};

/// Sends a frame without a body.
void send(transport::native::Link& link, Frame kind) {
  link.send({static_cast<std::uint32_t>(kind), 0, 0, 0}, {}, no_limit());
}

}  // namespace

void Announcements::map_board(std::int64_t processes) {
  board_ = Board::join(link_->take_descriptor());
  if (!board_) return;
  next_step_ = board_->first_step();
  may_poll_ = may_poll(processes);
}

Frame Announcements::next(std::string& message, const std::function<void()>& check) {
  const auto begin_on_board = [&] { return board_->begin(next_step_, message); };
  const bool is_on_board = board_ && (may_poll_ ? polling_.run(begin_on_board) : begin_on_board());
  const Frame kind = is_on_board ? Frame::kStep : request_step(message, check);
  if (kind == Frame::kStep && board_) {
    if (!is_on_board) board_->record_begun(next_step_);
    ++next_step_;
  }
  return kind;
}

Frame Announcements::request_step(std::string& message, const std::function<void()>& check) {
  // If the request cannot be sent, the connection may still have a kEnd or kAborted frame, which the writer sends
  // before it closes the connection. The error of the send counts only if there is none.
  const std::exception_ptr send_error = collective::caught([&] { send(*link_, Frame::kNext); });
  using transport::native::Clock;
  while (transport::native::wait_for(link_->number(), POLLIN, Clock::now() + kCheckInterval) == ETIMEDOUT) {
    check();
    if (base::host::is_silent(link_->number())) break;  // receive_frame() then reports the loss
  }
  const auto kind = static_cast<Frame>(receive_frame(*link_, message, no_limit()).kind);
  if (send_error && kind != Frame::kAborted && kind != Frame::kEnd) std::rethrow_exception(send_error);
  return kind;
}

void Announcements::finish() {
  // The writer reads the progress on the board, and needs a frame only if it sleeps.
  const bool needs_frame = !board_ || board_->finish(next_step_ - 1);
  if (!needs_frame) return;
  static_cast<void>(collective::caught([&] { send(*link_, Frame::kDone); }));
}

}  // namespace plait::pipe
