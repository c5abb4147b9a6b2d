/// The queue of steps between one writer and its readers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace plait::pipe {

/// The action of a writer whose queue is full.
enum class FullQueuePolicy : std::uint8_t {
  kWait,       ///< waits; every reader gets every step
  kDropOldest  ///< drops the oldest step that no reader is reading
};

/// The state machine of the queue, without clock, threads and messages; process 0 of the writer uses it.
///
/// A step is held in a slot from begin() until no reader needs it any more.  With kWait, unread steps are also held
/// while there is no reader.
/// threads  One at a time.
class Schedule {
 public:
  /// slots: maximum number of steps that are held at a time.
  Schedule(int slots, FullQueuePolicy when_full);

  /// A step that the writer may write, and its slot.
  struct BegunStep {
    std::int64_t step = 0;
    int slot = 0;
  };
  /// Begins the next step, and replaces one that was begun but not published.  Returns nothing if the queue is full.
  std::optional<BegunStep> begin();
  /// Makes the begun step readable.
  void publish();
  /// Discards the begun step; its number is used again.
  void cancel();
  /// Ends the sequence of steps.
  void end() { has_ended_ = true; }
  bool has_ended() const { return has_ended_; }

  /// Adds a reader, which begins with the oldest held step.  Returns its identification for the functions below.
  std::uint64_t attach();
  /// A step that a reader may read, and its slot.
  struct ReadSlot {
    std::int64_t step = 0;
    int slot = 0;
  };
  /// Begins the next step of a reader, which has finished the last one.  Returns nothing if no step is available.  With
  /// kDropOldest readers use at most slots() - 1 slots at a time, so that the writer always finds one.
  std::optional<ReadSlot> next(std::uint64_t reader);
  /// Records that a reader has read its current step.
  void done(std::uint64_t reader);
  /// Sets the progress of a reader with a board: the last steps that it has finished and begun.  pre  kWait.
  void set_progress(std::uint64_t reader, std::int64_t finished, std::int64_t begun);
  /// Removes a reader.  counts_as_read: true if the step that it is reading counts as read.
  void leave(std::uint64_t reader, bool counts_as_read);

  /// Returns true if the sequence has ended and a reader has read all steps.
  bool is_at_end(std::uint64_t reader) const;
  /// Returns true if the sequence has ended and all steps are read.
  bool is_over() const { return has_ended_ && is_drained(); }
  /// Returns true if no reader needs any held step.
  bool is_drained() const;
  std::int64_t published_steps() const { return published_; }
  std::int64_t dropped_steps() const { return dropped_; }
  bool holds(std::int64_t step) const;
  int queued_steps() const { return static_cast<int>(steps_.size()); }
  int slots() const { return slots_; }
  std::size_t readers() const { return readers_.size(); }
  /// Returns the last step that a reader has read; its first step - 1 at the beginning.
  std::int64_t position(std::uint64_t reader) const { return readers_.at(reader).position; }

 private:
  struct Step {
    std::int64_t number = 0;
    int slot = 0;
    bool was_read = false;  // true if any reader has finished it
  };
  struct Reader {
    std::int64_t position = -1;  // the last step that it has read
    std::int64_t reading = -1;   // the step that it is reading; -1: none
  };
  bool is_read_now(const Step& step) const;
  /// Returns true if a reader may begin the step, so that one slot remains that the writer can reuse.
  bool may_be_read(const Step& step) const;
  /// Returns true if a reader is reading the step or will read it, or if no reader is attached and none has read it.
  bool is_needed(const Step& step) const;
  /// Removes the steps that no reader needs, and frees their slots.
  void release_unneeded_steps();

  int slots_;
  FullQueuePolicy when_full_;
  std::deque<Step> steps_;     // published, ascending
  std::optional<Step> begun_;  // begun, not published
  std::vector<int> free_slots_;
  std::map<std::uint64_t, Reader> readers_;
  std::uint64_t last_reader_ = 0;
  std::int64_t published_ = 0;  // number of published steps, and of the next step
  std::int64_t dropped_ = 0;
  bool has_ended_ = false;
};

}  // namespace plait::pipe
