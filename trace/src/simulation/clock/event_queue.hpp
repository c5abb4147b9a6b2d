/// The virtual clock of a simulation: a queue of events, of which the earliest is next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace plait::simulation {

/// Virtual time in ns.
using Time = std::int64_t;
constexpr Time kNoTime = std::numeric_limits<Time>::max();

/// The receiver of a timer event.
class Timer {
 public:
  virtual ~Timer() = default;
  /// token  the argument of EventQueue::schedule()
  virtual void fire(std::uint64_t token) = 0;
};

/// Events in the order of their times. Events of the same time fire in the order in which they were added, so a
/// simulation has the same result on every machine.
/// cost  O(log events) each.
/// memory  32 bytes an event.
/// threads  one at a time.
class EventQueue {
 public:
  Time now() const noexcept { return now_; }
  bool empty() const noexcept { return heap_.empty(); }
  /// Time of the next event; kNoTime: there is none.
  Time next_time() const noexcept { return heap_.empty() ? kNoTime : heap_.front().time; }

  /// Adds an event. A time in the past counts as now.
  void schedule(Time time, Timer& timer, std::uint64_t token = 0) {
    heap_.push_back({std::max(time, now_), ++count_, &timer, token});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  /// Advances the clock to `time` if no event is due until then. Returns true if it did; the caller then needs no event
  /// to wait for `time`.
  bool try_advance(Time time) noexcept {
    if (time >= next_time()) return false;
    now_ = std::max(now_, time);
    return true;
  }

  /// Advances the clock to the next event, which must exist, and fires it.
  void run_next() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back();
    heap_.pop_back();
    now_ = event.time;
    event.timer->fire(event.token);
  }

 private:
  struct Event {
    Time time;
    std::uint64_t number;
    Timer* timer;
    std::uint64_t token;
  };
  static bool later(const Event& a, const Event& b) noexcept {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }

  std::vector<Event> heap_;
  Time now_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace plait::simulation
