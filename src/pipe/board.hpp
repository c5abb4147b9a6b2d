/// Steps that a writer announces to a reader of the same host without the kernel, and what that has read of them.
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

/// Memory of both processes of rank 0, for a reader that gets every step: the next one's number follows from the last
/// one's.  It stands beside their connection, which tells all else: that either end waits asleep, and how it ends.
///
/// Either end asks the other one to be told by the connection before it sleeps, and looks once more after that; the other
/// one looks whether it was asked after each thing that it does here.  So nobody sleeps while there is something to do.
///
/// threads  One at a time at each end.
class Board {
 public:
  /// Longer words go by the connection.
  static constexpr std::size_t kMostWords = 2032;
  /// More steps are announced by the connection.
  static constexpr std::int64_t kEntries = 16;

  /// Of a writer, for a reader that begins with this step.  nullptr: no memory or descriptor could be had.
  static std::unique_ptr<Board> make(std::int64_t first);
  /// Of a reader: what has come with its welcome.  nullptr: it is no such memory, or cannot be mapped.
  static std::unique_ptr<Board> join(base::Descriptor descriptor);
  int descriptor() const { return memory_.descriptor(); }

  // Of the writer.

  /// The words of a step.  What has no room here the reader asks for by the connection.
  void announce(std::int64_t step, std::string_view words);
  /// Nothing more is taken from here: the reader asks by the connection.
  void close();
  bool joined() const;
  /// The step that the reader has begun last, and the one that it has finished last: less than the first one before.
  struct Progress {
    std::int64_t begun = 0;
    std::int64_t finished = 0;
  };
  Progress progress() const;
  /// Whether the reader is to tell by the connection when it has finished a step.
  void want_word(bool wanted);

  // Of the reader.

  /// The first step that the reader gets.
  std::int64_t first() const { return progress().finished + 1; }
  /// Whether a step is announced here: puts its words there and begins it.  Asked for steps one after the other.
  bool begin(std::int64_t step, std::string& words);
  /// It has been begun by the connection.
  void begun(std::int64_t step);
  /// Returns whether the writer wants word.
  bool finish(std::int64_t step);

 private:
  struct Entry {
    std::atomic<std::int64_t> step;
    std::int64_t bytes;
    std::array<char, kMostWords> words;
  };
  /// What the writer writes, and what the reader: in lines of their own.
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
  struct Shared {
    WriterState writer;
    ReaderState reader;
    std::array<Entry, kEntries> entries;
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && sizeof(Entry) == 2048);

  Board() = default;
  Shared& shared() const;
  Entry& entry(std::int64_t step) const;

  SlotMemory memory_;
};

/// Whether an end may look again and again for a while before it sleeps: as many cores as processes of both ends.
bool may_poll(std::int64_t processes);
/// Waits of one end that look again and again before they sleep: for about as long as going to sleep and being woken
/// takes, and seldom where that has been in vain, as it is where steps come slowly or others have the cores.
class Polling {
 public:
  /// Looks whether something is so until it is, or the time is up; others run meanwhile.  Returns whether it is.
  template <typename Ready>
  bool run(Ready&& ready) {
    if (left_out_ > 0) {
      --left_out_;
      return ready();
    }
    const bool found = look(ready);
    in_vain_ = found ? 0 : std::clamp(2 * in_vain_, 1, kMostLeftOut);
    left_out_ = in_vain_;
    return found;
  }

 private:
  static constexpr int kMostLeftOut = 32;

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
