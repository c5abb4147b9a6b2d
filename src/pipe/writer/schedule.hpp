/// Which step of a pipe is where: the queue between one writer and its readers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace plait::pipe {

/// What happens where the queue is full and the next step begins.
enum class WhenFull : std::uint8_t {
  kWait,       ///< it waits for the readers: each of them gets every step
  kDropOldest  ///< the oldest step that no reader is reading goes, unread by some
};

/// Knows neither time nor processes: the process of rank 0 of the writer asks it what may be done.
///
/// A step is held, in one of a few slots, from its beginning until nobody is to read it any more.  Where each reader is
/// to get all steps, those that nobody has read are held while there is no reader as well.
/// threads  One at a time.
class Schedule {
 public:
  Schedule(int slots, WhenFull when_full);

  struct Begun {
    std::int64_t step = 0;
    int slot = 0;
  };
  /// The next step's slot, in place of one that has begun and was not published; nothing while the queue is full.
  std::optional<Begun> begin();
  /// The step that has begun can be read from now on.
  void publish();
  /// It will not be: its number comes again.
  void cancel();
  /// No more steps will come.
  void end() { ended_ = true; }
  bool ended() const { return ended_; }

  /// A new reader, which begins with the oldest step that is held.
  std::uint64_t attach();
  struct ReadSlot {
    std::int64_t step = 0;
    int slot = 0;
  };
  /// The step that a reader reads from now on, having read the one before; nothing while there is no newer one.  Where
  /// the oldest is dropped, readers have one slot less than there are at a time, so that the writer always finds one.
  std::optional<ReadSlot> next(std::uint64_t reader);
  /// A reader has read what it was given.
  void done(std::uint64_t reader);
  /// How far a reader has come that takes its steps without asking, one after the other, where each reader is to get all
  /// steps: the last one that it has finished, and the last one that it has begun.
  void progressed(std::uint64_t reader, std::int64_t finished, std::int64_t begun);
  /// A reader goes.  content: it has had what it wanted of the step that it reads.
  void leave(std::uint64_t reader, bool content);

  /// Whether a reader has had all that it will ever get.
  bool at_end(std::uint64_t reader) const;
  /// Whether no steps will come, and all that were have been read.
  bool over() const { return ended_ && drained(); }
  /// Whether nothing is held that a reader will read.
  bool drained() const;
  std::int64_t published() const { return published_; }
  std::int64_t dropped() const { return dropped_; }
  bool holds(std::int64_t step) const;
  int held() const { return static_cast<int>(steps_.size()); }
  int slots() const { return slots_; }
  std::size_t readers() const { return readers_.size(); }
  /// The step that a reader has read last; one less than its first one at the beginning.
  std::int64_t position(std::uint64_t reader) const { return readers_.at(reader).position; }

 private:
  struct Step {
    std::int64_t number = 0;
    int slot = 0;
    bool read = false;  // by any reader, to its end
  };
  struct Reader {
    std::int64_t position = -1;
    std::int64_t reading = -1;  // -1: none
  };
  bool is_read_now(const Step& step) const;
  bool may_be_read(const Step& step) const;
  bool wanted(const Step& step) const;
  void release();

  int slots_;
  WhenFull when_full_;
  std::deque<Step> steps_;  // published, ascending
  std::optional<Step> begun_;
  std::vector<int> free_;
  std::map<std::uint64_t, Reader> readers_;
  std::uint64_t last_reader_ = 0;
  std::int64_t published_ = 0;  // so many steps: the next one has this number
  std::int64_t dropped_ = 0;
  bool ended_ = false;
};

}  // namespace plait::pipe
