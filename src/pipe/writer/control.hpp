/// What the writer's process of rank 0 knows of the readers.
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
#include "pipe/description.hpp"
#include "pipe/messages.hpp"
#include "pipe/options.hpp"
#include "pipe/writer/schedule.hpp"
#include "transport/native/server.hpp"

namespace plait::pipe {

/// The queue, and who is to hear of what happens in it.
/// threads  The program's and the server's at once.
class WriterControl {
 public:
  using Clock = transport::native::Clock;

  WriterControl(std::string shown, ArrayType type, std::string who, int processes, const Options& options);

  // Of the program's thread.

  /// Waits for so many readers as the options say.  errors  kSystem: ETIMEDOUT, and what is_lost() would throw.
  void wait_for_readers();
  /// Waits until there is room for the next step.
  /// errors  kSystem: a reader has failed or been lost; ETIMEDOUT: there is no reader.
  Schedule::Begun begin();
  /// A step's frame, which publish() takes.
  static std::string frame_of(const StepDescription& step);
  /// Hands the step that has begun to the readers.
  void publish(const StepDescription& step, std::string frame);
  void cancel();
  /// Tells the readers that no more steps come, and waits until they have read all.  errors  As begin().
  void finish();
  /// Tells the readers why no more steps come.
  void abort(const std::string& why) noexcept;

  // Of the server's.

  /// A frame of a reader's process of rank 0, or of somebody who asks.  errors  kSystem, EPROTO: it makes no sense.
  void received(const std::shared_ptr<transport::native::Peer>& peer, const transport::native::FrameHead& head,
                std::span<const std::byte> body);
  void closed(const std::shared_ptr<transport::native::Peer>& peer, const std::string& why);

 private:
  struct Reader {
    std::uint64_t id = 0;
    std::string who;
    std::int64_t processes = 1;
    std::shared_ptr<transport::native::Peer> peer;
    std::unique_ptr<Board> board;  // of one on this host that gets every step
    bool waits = false;            // for a step
    bool ended = false;            // has been told that no more will come

    bool joined() const { return board && board->joined(); }
  };
  void attach(const std::shared_ptr<transport::native::Peer>& peer, std::span<const std::byte> body);
  /// Why what a reader expects is not met.
  base::Rejection mismatch(const AttachRequest& reader) const;
  /// Sends a reader that waits what there is for it.
  void serve(Reader& reader);
  void serve_all();
  /// Takes note of what readers have read without a word.
  void look_at_boards();
  void look_at(Reader& reader);
  void close_boards();
  std::unique_ptr<Board> make_board(const transport::native::Peer& peer, std::uint64_t id) const;
  /// Whether they are to give word.
  void want_word(bool wanted);
  enum class Going : std::uint8_t { kContent, kFailed };
  void drop(std::uint64_t peer, Going how, const std::string& trouble);
  std::string status() const;
  /// errors  What went wrong with a reader since it was asked last.
  void check_trouble();
  /// Looks for `ready` for a while, without sleeping, where that takes no core from anybody.
  template <typename Ready>
  bool poll(std::unique_lock<std::mutex>& lock, Ready&& ready);
  /// Waits until something has changed, or not much longer.  false: it is late.
  /// errors  kSystem, EINTR: the program is to get out of it.
  bool wait_some(std::unique_lock<std::mutex>& lock, Clock::time_point until);
  /// Waits for `ready`; where there is no reader, for as long as the options say.
  template <typename Ready>
  void wait(std::unique_lock<std::mutex>& lock, Ready&& ready);
  template <typename Ready>
  void wait_asleep(std::unique_lock<std::mutex>& lock, Ready&& ready);

  const std::string shown_;
  const ArrayType type_;
  const std::string who_;
  const int processes_;
  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Schedule schedule_;
  Polling polling_;
  std::map<std::uint64_t, Reader> readers_;    // by the number of their connection
  std::size_t come_ = 0;                       // so many readers, whether they are still there or not
  std::map<std::int64_t, std::string> steps_;  // those that are held, and the last one, as they are sent
  std::int64_t bytes_ = 0;                     // of all steps so far
  bool word_wanted_ = false;                   // of readers that need not tell
  std::string trouble_;
  std::string aborted_;
};

}  // namespace plait::pipe
