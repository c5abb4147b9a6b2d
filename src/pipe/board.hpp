/// Shared memory in which a writer announces steps to a reader on the same host, without system calls.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/descriptor.hpp"
#include "pipe/slot_memory.hpp"

namespace plait::pipe {

/// The memory is shared by process 0 of the writer and process 0 of one reader.  It is used only for a reader that gets
/// every step, so that step numbers ascend by one.  Everything else, such as notifications and the end of the steps, is
/// sent on the connection between the two processes.
///
/// No notification is lost: before the writer sleeps, it sets notify_writer and then checks the progress once more.
/// The reader checks notify_writer after each change that it makes here.  Example: the writer finds the queue full,
/// sets notify_writer and reads `finished` again.  If the reader finishes a step in between, either the writer sees the
/// new value, or the reader sees notify_writer and sends a frame.
///
/// threads  One at a time at each end.
class Board {
 public:
  /// Maximum bytes of a description; longer ones are sent on the connection.
  static constexpr std::size_t kMaxMessage = 2032;
  /// Maximum number of announced steps that are not finished; further ones are announced on the connection.
  static constexpr std::int64_t kEntries = 16;

  /// Called by the writer: creates the board for a reader that begins with step `first`.  Returns nullptr if there is
  /// no memory or descriptor for it.
  static std::unique_ptr<Board> create(std::int64_t first);
  /// Called by the reader: maps the descriptor that came with the kWelcome frame.  Returns nullptr if it is not a
  /// board.
  static std::unique_ptr<Board> join(base::Descriptor descriptor);
  int descriptor() const { return memory_.descriptor(); }

  // For the writer.

  /// Announces a step.  If it does not fit, the reader requests it on the connection.
  void announce(std::int64_t step, std::string_view message);
  /// Closes the board; the reader continues on the connection.
  void close();
  bool is_joined() const;
  /// The last steps that the reader has begun and finished; first_step() - 1 at the beginning.
  struct Progress {
    std::int64_t begun = 0;
    std::int64_t finished = 0;
  };
  Progress progress() const;
  /// Requests, or stops requesting, that the reader sends a frame after each finished step.
  void request_notifications(bool on);

  // For the reader.

  /// The first step for the reader.
  std::int64_t first_step() const { return progress().finished + 1; }
  /// If the step has been announced here, copies its description to `message`, begins the step and returns true.
  /// pre  Steps ascend by one.
  bool begin(std::int64_t step, std::string& message);
  /// Records that a step was begun on the connection.
  void record_begun(std::int64_t step);
  /// Records that a step was finished.  Returns true if the writer has requested a notification.
  bool finish(std::int64_t step);

 private:
  struct Entry {
    std::atomic<std::int64_t> step;
    std::int64_t bytes;
    std::array<char, kMaxMessage> message;
  };
  /// The writer's and the reader's fields are on different cache lines, so that the ends do not slow each other down.
  struct WriterState {
    std::atomic<std::uint32_t> notify_writer;
    std::atomic<std::uint32_t> closed;
    std::array<std::uint64_t, 15> unused;
  };
  struct ReaderState {
    std::atomic<std::int64_t> begun;
    std::atomic<std::int64_t> finished;
    std::atomic<std::uint32_t> joined;
    std::array<std::uint64_t, 13> unused;
  };
  struct SharedBoard {
    WriterState writer;
    ReaderState reader;
    std::array<Entry, kEntries> entries;
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && sizeof(Entry) == 2048);

  Board() = default;
  SharedBoard& shared() const;
  Entry& entry(std::int64_t step) const;

  SlotMemory memory_;
};

/// Returns true if an end of the pipe may poll before it sleeps: this process may use at least as many cores as there
/// are processes of both ends.
bool may_poll(std::int64_t processes);
/// Polls before an end sleeps, for about the time that sleeping and waking would take.  After a poll without success
/// the next waits do not poll, because steps are slow or other programs use the cores: 1 wait after the first failure,
/// then 2, 4, ..., at most kMaxOmitted; a success resets this.
class Polling {
 public:
  /// Calls `ready` until it returns true or the time is over, and yields in between.  Returns its last result.
  template <typename Ready>
  bool run(Ready&& ready) {
    if (waits_to_skip_ > 0) {
      --waits_to_skip_;
      return ready();
    }
    const bool is_ready = poll(ready);
    backoff_ = is_ready ? 0 : std::clamp(2 * backoff_, 1, kMaxOmitted);
    waits_to_skip_ = backoff_;
    return is_ready;
  }

 private:
  static constexpr int kMaxOmitted = 32;

  template <typename Ready>
  static bool poll(Ready& ready) {
    constexpr auto kMaxPoll = std::chrono::microseconds(50);
    const auto until = std::chrono::steady_clock::now() + kMaxPoll;
    do {
      if (ready()) return true;
      std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < until);
    return ready();
  }

  int backoff_ = 0;        // number of waits to skip after the last failed poll
  int waits_to_skip_ = 0;  // number of waits to skip from here on
};

}  // namespace plait::pipe
