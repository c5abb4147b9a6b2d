// Process 0 of a writer: passes steps from the queue (Schedule) to the readers.
//
// The program's thread begins and publishes steps; the server's thread handles the frames of readers. Both hold mutex_.
//
// A reader sends kNext when it wants a step. If there is one, serve() answers at once; otherwise the reader is marked
// as waiting, and publish() answers. kDone reports that the step was read, which may free a slot for begin().
//
// A reader on the same host does both without frames as long as its Board has the steps. The schedule then learns of
// its progress when this object reads the boards, which it does before it decides anything.
//
// Errors of readers are recorded in `reader_error_`, and thrown by the next call on the program's thread that waits.

#include "pipe/writer/control.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "collective/agree.hpp"
#include "pipe/meeting_file.hpp"
#include "pipe/protocol.hpp"

namespace plait::pipe {

using base::text;
using transport::native::FrameHead;
using transport::native::Peer;

namespace {

/// Maximum time that finish() gives the readers to receive their last frames.
constexpr std::chrono::seconds kCloseTimeout{2};

void send(Peer& peer, Frame kind, std::span<const std::byte> body, int descriptor = -1) {
  peer.send({static_cast<std::uint32_t>(kind), 0, 0, body.size()}, body, descriptor);
}

std::string seconds_text(std::chrono::duration<double> time) { return text(time.count(), " s"); }

}  // namespace

WriterControl::WriterControl(std::string url, ArrayType type, std::string program, int processes,
                             const Options& options)
    : url_(std::move(url)),
      type_(std::move(type)),
      program_(std::move(program)),
      processes_(processes),
      options_(options),
      schedule_(options.queue, options.when_full) {}

void WriterControl::throw_reader_error() {
  if (reader_error_.empty()) return;
  const std::string error = std::exchange(reader_error_, std::string());
  base::throw_system_error(EPIPE, error);
}

bool WriterControl::wait_briefly(std::unique_lock<std::mutex>& lock, Clock::time_point until) {
  const Clock::time_point now = Clock::now();
  if (now >= until) return false;
  changed_.wait_until(lock, std::min(until, now + base::kBetweenInterruptions));
  // The check may run signal handlers of the program, such as Python's. The server's thread must not wait for them.
  lock.unlock();
  const std::exception_ptr interruption = collective::caught(base::check_interruption);
  lock.lock();
  if (interruption) std::rethrow_exception(interruption);
  return true;
}

void WriterControl::read_board(Reader& reader) {
  if (!reader.is_joined()) return;
  const Board::Progress progress = reader.board->progress();
  schedule_.set_progress(reader.id, progress.finished, progress.begun);
}

void WriterControl::read_boards() {
  for (auto& [number, reader] : readers_) read_board(reader);
}

void WriterControl::close_boards() {
  for (auto& [number, reader] : readers_)
    if (reader.board) reader.board->close();
}

void WriterControl::request_notifications(bool on) {
  notifications_requested_ = on;
  for (auto& [number, reader] : readers_)
    if (reader.board) reader.board->request_notifications(on);
}

template <typename Ready>
bool WriterControl::poll(std::unique_lock<std::mutex>& lock, Ready&& ready) {
  std::int64_t processes = processes_;
  bool has_board = false;
  for (const auto& [number, reader] : readers_) {
    processes += reader.processes;
    has_board = has_board || reader.board;
  }
  if (!has_board || !may_poll(processes)) return false;
  return polling_.run([&] {
    // Release the lock for a moment, so that the server's thread can record an error.
    lock.unlock();
    lock.lock();
    read_boards();
    return !reader_error_.empty() || ready();
  });
}

template <typename Ready>
void WriterControl::wait(std::unique_lock<std::mutex>& lock, Ready&& ready) {
  read_boards();
  throw_reader_error();
  if (ready()) return;
  if (poll(lock, ready)) return throw_reader_error();
  request_notifications(/*on=*/true);  // before the next check, so that no finished step is missed (board.hpp)
  const std::exception_ptr failure = collective::caught([&] { wait_asleep(lock, ready); });
  request_notifications(/*on=*/false);
  if (failure) std::rethrow_exception(failure);
}

template <typename Ready>
void WriterControl::wait_asleep(std::unique_lock<std::mutex>& lock, Ready&& ready) {
  const auto timeout = std::chrono::duration_cast<Clock::duration>(options_.timeout);
  Clock::time_point last_reader_time = Clock::now();  // the last time when there was a reader
  while (true) {
    read_boards();
    throw_reader_error();
    if (ready()) return;
    if (!readers_.empty()) {
      wait_briefly(lock, Clock::time_point::max());
      last_reader_time = Clock::now();
    } else if (!wait_briefly(lock, last_reader_time + timeout)) {
      base::throw_system_error(ETIMEDOUT, url_, ": no reader has come within ", seconds_text(options_.timeout),
                               "; this is ", program_, ", which writes ", describe_array_type(type_),
                               " and meets its readers in ", meeting_folder(), ". Start one that opens ", url_,
                               " there, give it more time by timeout=, or let the writer go "
                               "on without readers by drop=oldest&readers=0");
    }
  }
}

void WriterControl::wait_for_readers() {
  std::unique_lock lock(mutex_);
  const Clock::time_point until = Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.timeout);
  const auto expected = static_cast<std::size_t>(options_.readers);
  while (true) {
    throw_reader_error();
    // Readers that have attached and left count as well.
    if (attached_readers_ >= expected) return;
    if (!wait_briefly(lock, until))
      base::throw_system_error(
          ETIMEDOUT, url_, ": ",
          attached_readers_ == 0 ? "no reader has"
                                 : text("only ", attached_readers_, " of ", expected, " readers have"),
          " come within ", seconds_text(options_.timeout), "; this is ", program_, ", which writes ",
          describe_array_type(type_), " and meets its readers in ", meeting_folder(),
          ". Start them, give them more time by timeout=, or do not wait for them by readers=0");
  }
}

Schedule::BegunStep WriterControl::begin() {
  std::unique_lock lock(mutex_);
  std::optional<Schedule::BegunStep> begun;
  wait(lock, [&] {
    begun = schedule_.begin();
    return begun.has_value();
  });
  return *begun;
}

std::string WriterControl::make_frame(const StepDescription& step) { return base::encode(step); }

void WriterControl::publish(const StepDescription& step, std::string frame) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(steps_, [this](const auto& entry) { return !schedule_.holds(entry.first); });
  const std::string& message = steps_[step.number] = std::move(frame);
  schedule_.publish();
  for (auto& [number, reader] : readers_)
    if (reader.board) reader.board->announce(step.number, message);
  for (const Variable& variable : step.variables) {
    std::int64_t bytes = variable.type.element_bytes;
    for (const std::int64_t extent : variable.type.shape) bytes *= extent;
    bytes_ += bytes;
  }
  serve_all();
}

void WriterControl::cancel() {
  const std::scoped_lock lock(mutex_);
  schedule_.cancel();
}

void WriterControl::finish() {
  std::unique_lock lock(mutex_);
  read_boards();
  schedule_.end();
  close_boards();
  serve_all();
  if (options_.when_full == FullQueuePolicy::kDropOldest) {
    // These readers only watch, so the program waits for them no longer than the timeout.
    const Clock::time_point until = Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.timeout);
    while (!readers_.empty() && !schedule_.is_drained() && wait_briefly(lock, until)) {
    }
  } else {
    wait(lock, [&] { return schedule_.is_drained(); });
  }
  for (auto& [number, reader] : readers_) {
    if (!reader.end_was_sent) send(*reader.peer, Frame::kEnd, {});
    reader.end_was_sent = true;
    reader.peer->close();
  }
  // Give the readers time to receive what is in their send queues.
  const Clock::time_point close_until = Clock::now() + kCloseTimeout;
  while (!readers_.empty() && wait_briefly(lock, close_until)) {
  }
}

void WriterControl::abort(const std::string& why) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    abort_reason_ = text("the writer of ", url_, ", ", program_, ", has given up: ", why);
    close_boards();
    const std::string_view body = abort_reason_;
    for (auto& [number, reader] : readers_) {
      send(*reader.peer, Frame::kAborted, std::as_bytes(std::span(body)));
      reader.peer->close();
    }
  } catch (...) {  // the readers then notice that their connections have ended
  }
}

base::Rejection WriterControl::find_mismatch(const AttachRequest& reader) const {
  if (type_.element_bytes == 0) return {};  // each step describes its arrays
  const bool is_same_dtype = reader.dtype.empty() || type_.dtype.empty() || reader.dtype == type_.dtype;
  const bool fits = is_same_dtype || copy::ElementCast::find(type_.dtype, reader.dtype, reader.casting);
  if (fits && (!reader.shape || *reader.shape == type_.shape)) return {};
  std::string casting;
  if (!fits && reader.casting != copy::Casting::kNo) {
    casting = text("; casting=", to_string(reader.casting), " does not convert ", type_.dtype, " to ", reader.dtype);
  } else if (!fits && copy::ElementCast::find(type_.dtype, reader.dtype, copy::Casting::kSameKind)) {
    casting = text("; to have elements converted, let the reader open pipe:", options_.name, "?casting=same_kind");
  }
  return base::Rejection::because(url_, ": the two ends differ: ", program_, " writes ", describe_array_type(type_),
                                  ", but ", reader.program, " reads ",
                                  shape_to_string(reader.shape.value_or(type_.shape)), ' ',
                                  reader.dtype.empty() ? type_.dtype : reader.dtype,
                                  "; let both say the same, or the reader neither shape nor dtype", casting);
}

/// Makes a board that begins with the oldest held step, for a reader on this host that gets every step; else nullptr.
std::unique_ptr<Board> WriterControl::make_board(const Peer& peer, std::uint64_t id) const {
  if (!peer.is_local() || options_.when_full != FullQueuePolicy::kWait) return nullptr;
  const std::int64_t first = schedule_.position(id) + 1;
  auto board = Board::create(first);
  if (!board) return nullptr;
  for (const auto& [number, message] : steps_)
    if (number >= first) board->announce(number, message);
  board->request_notifications(notifications_requested_);
  if (schedule_.has_ended()) board->close();
  return board;
}

void WriterControl::attach(const std::shared_ptr<Peer>& peer, std::span<const std::byte> body) {
  if (readers_.contains(peer->number()))
    base::throw_system_error(EPROTO, "a reader registered twice over one connection");
  const auto request = base::decode<AttachRequest>(body, kOtherEnd);
  base::Rejection rejection = find_mismatch(request);
  int code = EINVAL;
  read_boards();
  if (schedule_.is_over()) {
    // ECONNREFUSED: the reader continues to wait for the next writer with this name.
    rejection = base::Rejection::because("the writer of ", url_, ", ", program_, ", has just closed it");
    code = ECONNREFUSED;
  } else if (!abort_reason_.empty()) {
    rejection = base::Rejection(abort_reason_);
    code = ECONNREFUSED;
  } else if (rejection && options_.when_full == FullQueuePolicy::kWait &&
             std::cmp_less(attached_readers_, options_.readers)) {
    // A mismatch is an error of the writer too while it waits for its first readers; later ones are only rejected.
    reader_error_ = rejection.reason();
  }
  if (rejection) {
    const std::string answer = base::encode(Refusal{code, rejection.reason()});
    send(*peer, Frame::kRefused, std::as_bytes(std::span(answer)));
    peer->close();
  } else {
    const std::string answer = base::encode(Welcome{type_, processes_, program_});
    const std::uint64_t id = schedule_.attach();
    try {
      readers_[peer->number()] = {id, request.program, request.processes, peer, make_board(*peer, id)};
    } catch (...) {
      readers_.erase(peer->number());
      // Otherwise steps would be held for a reader that is not in readers_.
      schedule_.leave(id, /*counts_as_read=*/false);
      throw;
    }
    const Reader& reader = readers_.at(peer->number());
    ++attached_readers_;
    send(*peer, Frame::kWelcome, std::as_bytes(std::span(answer)), reader.board ? reader.board->descriptor() : -1);
  }
  changed_.notify_all();
}

void WriterControl::serve(Reader& reader) {
  if (!reader.is_waiting) return;
  read_board(reader);
  if (const auto next_step = schedule_.next(reader.id)) {
    const std::string_view step = steps_.at(next_step->step);
    send(*reader.peer, Frame::kStep, std::as_bytes(std::span(step)));
  } else if (schedule_.is_at_end(reader.id)) {
    send(*reader.peer, Frame::kEnd, {});
    reader.end_was_sent = true;
  } else {
    return;
  }
  reader.is_waiting = false;
}

void WriterControl::serve_all() {
  for (auto& [number, reader] : readers_) serve(reader);
}

void WriterControl::drop(std::uint64_t peer, DropReason reason, const std::string& why) {
  const auto found = readers_.find(peer);
  if (found == readers_.end()) return;
  // A reader that only watches may leave at any time.
  if (reason == DropReason::kFailed && options_.when_full == FullQueuePolicy::kWait && !found->second.end_was_sent)
    reader_error_ = text(url_, ": the reader ", found->second.program, ' ', why);
  read_board(found->second);
  schedule_.leave(found->second.id, reason == DropReason::kLeft);
  readers_.erase(found);
  serve_all();  // a slot may be free for another reader
  changed_.notify_all();
}

void WriterControl::received(const std::shared_ptr<Peer>& peer, const FrameHead& head,
                             std::span<const std::byte> body) {
  const std::scoped_lock lock(mutex_);
  const auto kind = static_cast<Frame>(head.kind);
  if (kind == Frame::kAttach) return attach(peer, body);
  if (kind == Frame::kStatus) {
    read_boards();
    const std::string encoded = encode_status();
    return send(*peer, Frame::kStatusText, std::as_bytes(std::span(encoded)));
  }
  const auto found = readers_.find(peer->number());
  if (found == readers_.end()) return;  // the reader was dropped
  switch (kind) {
    case Frame::kNext:
      found->second.is_waiting = true;
      serve(found->second);
      break;
    case Frame::kDone:
      found->second.is_joined() ? read_board(found->second) : schedule_.done(found->second.id);
      serve_all();
      changed_.notify_all();
      break;
    case Frame::kLeave: drop(peer->number(), DropReason::kLeft, ""); break;
    case Frame::kAbort:
      drop(peer->number(), DropReason::kFailed, text("has failed: ", base::decode<std::string_view>(body, kOtherEnd)));
      break;
    default: base::throw_system_error(EPROTO, "a frame that no writer of a pipe knows");
  }
}

void WriterControl::closed(const std::shared_ptr<Peer>& peer, const std::string& why) {
  const std::scoped_lock lock(mutex_);
  drop(peer->number(), DropReason::kFailed, text("is lost: ", why));
}

std::string WriterControl::encode_status() const {
  StatusAnswer answer;
  answer.program = program_;
  answer.processes = processes_;
  answer.type = type_;
  answer.steps = schedule_.published_steps();
  answer.queued = schedule_.queued_steps();
  answer.queue = schedule_.slots();
  answer.dropped = schedule_.dropped_steps();
  answer.bytes = bytes_;
  for (const auto& [number, reader] : readers_)
    answer.readers.push_back({reader.program, reader.processes, schedule_.position(reader.id) + 1});
  if (!steps_.empty()) answer.newest = base::decode<StepDescription>(steps_.rbegin()->second, kOtherEnd);
  return base::encode(answer);
}

}  // namespace plait::pipe
