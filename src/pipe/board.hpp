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

/// The memory belongs to both processes of rank 0.  It serves a reader that gets every step, so that step numbers
/// follow each other.  Everything else, such as wake-ups and the end, is sent on the connection between them.
///
/// No wake-up is lost: before an end sleeps, it requests a notification here and then checks once more.  The other end
/// checks for that request after each change that it makes here.  Example: the writer finds the queue full, sets
/// notify_writer and reads `finished` again.  If the reader finishes a step in between, either the writer sees the new
/// value, or the reader sees notify_writer and sends a frame.
///
/// threads  One at a time at each end.
class Board {
 public:
  /// Longer descriptions are sent on the connection.
  static constexpr std::size_t kMaxMessage = 2032;
  /// Further steps are announced on the connection.
  static constexpr std::int64_t kEntries = 16;

  /// Called by the writer, for a reader that begins with step `first`.  Returns nullptr without memory or descriptors.
  static std::unique_ptr<Board> make(std::int64_t first);
  /// Called by the reader with the descriptor from its welcome.  Returns nullptr if it cannot be mapped as a board.
  static std::unique_ptr<Board> join(base::Descriptor descriptor);
  int descriptor() const { return memory_.descriptor(); }

  // For the writer.

  /// Announces a step.  If it does not fit, the reader requests it on the connection.
  void announce(std::int64_t step, std::string_view message);
  /// Closes the board; the reader continues on the connection.
  void close();
  bool joined() const;
  /// The last steps that the reader has begun and finished; first() - 1 at the beginning.
  struct Progress {
    std::int64_t begun = 0;
    std::int64_t finished = 0;
  };
  Progress progress() const;
  /// Sets whether the reader sends a frame after each finished step.
  void want_word(bool wanted);

  // For the reader.

  /// The first step for the reader.
  std::int64_t first() const { return progress().finished + 1; }
  /// If the step is announced here, copies its description, begins it and returns true.  pre  Steps ascend by one.
  bool begin(std::int64_t step, std::string& message);
  /// Records that a step was begun on the connection.
  void begun(std::int64_t step);
  /// Returns true if the writer has requested a notification.
  bool finish(std::int64_t step);

 private:
  struct Entry {
    std::atomic<std::int64_t> step;
    std::int64_t bytes;
    std::array<char, kMaxMessage> message;
  };
  /// Each end writes to cache lines of its own.
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

/// True if an end may poll before it sleeps: there are at least as many cores as processes of both ends.
bool may_poll(std::int64_t processes);
/// Polls before an end sleeps, for about the time that sleeping and waking takes.  After polls without success the next
/// waits do not poll, because steps are slow or other programs use the cores.
class Polling {
 public:
  /// Polls `ready`, and yields in between.  Returns its last result.
  template <typename Ready>
  bool run(Ready&& ready) {
    if (left_out_ > 0) {
      --left_out_;
      return ready();
    }
    const bool found = look(ready);
    in_vain_ = found ? 0 : std::clamp(2 * in_vain_, 1, kMaxOmitted);
    left_out_ = in_vain_;
    return found;
  }

 private:
  static constexpr int kMaxOmitted = 32;

  template <typename Ready>
  static bool look(Ready& ready) {
    constexpr auto kLongest = std::chrono::microseconds(50);
    const auto until = std::chrono::steady_clock::now() + kLongest;
    do {
      if (ready()) return true;
      std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < until);
    return ready();
  }

  int in_vain_ = 0;   // so many waits are left out after the last time
  int left_out_ = 0;  // are still to be
};

}  // namespace plait::pipe
