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

constexpr std::chrono::milliseconds kCheckInterval{250};

void send(transport::native::Link& link, Frame kind) {
  link.send({static_cast<std::uint32_t>(kind), 0, 0, 0}, {}, no_limit());
}

}  // namespace

void Announcements::take_board(std::int64_t processes) {
  board_ = Board::join(link_->take_descriptor());
  if (!board_) return;
  next_ = board_->first();
  polls_ = may_poll(processes);
}

Frame Announcements::next(std::string& message, const std::function<void()>& check) {
  const auto begin_on_board = [&] { return board_->begin(next_, message); };
  const bool on_board = board_ && (polls_ ? polling_.run(begin_on_board) : begin_on_board());
  const Frame kind = on_board ? Frame::kStep : request_step(message, check);
  if (kind == Frame::kStep && board_) {
    if (!on_board) board_->record_begun(next_);
    ++next_;
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
  if (board_ && !board_->finish(next_ - 1)) return;
  static_cast<void>(collective::caught([&] { send(*link_, Frame::kDone); }));
}

}  // namespace plait::pipe
