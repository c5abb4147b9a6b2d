/// Process 0 of a writer: its readers, and the steps that it announces to them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/errors.hpp"
#include "pipe/board.hpp"
#include "pipe/messages.hpp"
#include "pipe/options.hpp"
#include "pipe/step_description.hpp"
#include "pipe/writer/schedule.hpp"
#include "transport/native/server.hpp"

namespace plait::pipe {

/// Passes the steps of the queue to the readers.
/// threads  The program's thread and the server's at once.
class WriterControl {
 public:
  using Clock = transport::native::Clock;

  WriterControl(std::string url, ArrayType type, std::string program, int processes, const Options& options);

  // Called on the program's thread.

  /// Waits until as many readers as the options state have attached.
  /// errors  kSystem: ETIMEDOUT; a reader has failed or is lost.
  void wait_for_readers();
  /// Waits until a slot is free for the next step.
  /// errors  kSystem: a reader has failed or is lost; ETIMEDOUT: there is no reader.
  Schedule::BegunStep begin();
  /// Encodes a step for publish().
  static std::string make_frame(const StepDescription& step);
  /// Publishes the begun step to the readers.
  void publish(const StepDescription& step, std::string frame);
  /// Discards the begun step; its number is used again.
  void cancel();
  /// Announces the end of the steps, and waits until the readers have read all.  errors  As begin().
  void finish();
  /// Announces that the writer has failed, with the reason.
  void abort(const std::string& why) noexcept;

  // Called on the server's thread.

  /// Handles a frame that has been received from process 0 of a reader, or a status request.
  /// errors  kSystem, EPROTO: an invalid frame.
  void received(const std::shared_ptr<transport::native::Peer>& peer, const transport::native::FrameHead& head,
                std::span<const std::byte> body);
  /// Handles the end of a connection.  why: the reason, for errors.
  void closed(const std::shared_ptr<transport::native::Peer>& peer, const std::string& why);

 private:
  struct Reader {
    std::uint64_t id = 0;  // in schedule_
    std::string program;
    std::int64_t processes = 1;
    std::shared_ptr<transport::native::Peer> peer;
    std::unique_ptr<Board> board;  // only for a reader on this host that gets every step
    bool is_waiting = false;       // the reader waits for a step
    bool end_was_sent = false;     // kEnd was sent to the reader

    bool is_joined() const { return board && board->is_joined(); }
  };
  /// Handles kAttach: adds the reader, or rejects it.
  void attach(const std::shared_ptr<transport::native::Peer>& peer, std::span<const std::byte> body);
  /// Returns the reason why the array of the pipe is not the one that a reader expects; empty if it is.
  base::Rejection find_mismatch(const AttachRequest& reader) const;
  /// Sends the next step or the end to a waiting reader.
  void serve(Reader& reader);
  void serve_all();
  /// Passes the progress of readers from their boards to the schedule.
  void read_boards();
  void read_board(Reader& reader);
  void close_boards();
  std::unique_ptr<Board> make_board(const transport::native::Peer& peer, std::uint64_t id) const;
  /// Sets whether readers with boards notify the writer.
  void request_notifications(bool on);
  /// kLeft: the reader has left without an error.
  enum class DropReason : std::uint8_t { kLeft, kFailed };
  /// Removes a reader.  why: the end of a sentence for the error of a kFailed reader.
  void drop(std::uint64_t peer, DropReason reason, const std::string& why);
  /// Returns the encoded StatusAnswer.
  std::string encode_status() const;
  /// Throws the error that a reader has caused since the last call, if any.
  /// errors  kSystem, EPIPE.
  void throw_reader_error();
  /// Calls `ready` repeatedly for a while if there are enough cores.  Returns true once it does, or a reader has
  /// failed.
  template <typename Ready>
  bool poll(std::unique_lock<std::mutex>& lock, Ready&& ready);
  /// Waits for a change, or for a short time.  Returns false after `until`.
  /// errors  kSystem, EINTR: the program was interrupted.
  bool wait_briefly(std::unique_lock<std::mutex>& lock, Clock::time_point until);
  /// Waits for `ready`; without a reader at most for the timeout in the options.
  template <typename Ready>
  void wait(std::unique_lock<std::mutex>& lock, Ready&& ready);
  /// Continues wait() without polling, after the readers were requested to notify.
  template <typename Ready>
  void wait_asleep(std::unique_lock<std::mutex>& lock, Ready&& ready);

  const std::string url_;
  const ArrayType type_;
  const std::string program_;
  const int processes_;
  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // notified when readers attach, leave, fail or finish steps
  Schedule schedule_;
  Polling polling_;
  std::map<std::uint64_t, Reader> readers_;    // by number of the connection
  std::size_t attached_readers_ = 0;           // number of readers that have attached so far
  std::map<std::int64_t, std::string> steps_;  // held steps and the last one, encoded
  std::int64_t bytes_ = 0;                     // of all published steps
  bool notifications_requested_ = false;       // from readers with boards
  std::string reader_error_;                   // for the program's thread; empty: none
  std::string abort_reason_;                   // empty: the writer has not aborted
};

}  // namespace plait::pipe
