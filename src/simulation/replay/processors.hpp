/// Processors that are shared round-robin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "simulation/clock/event_queue.hpp"
#include "simulation/replay/settings.hpp"

namespace plait::simulation {

/// What hears that a process has had the processor time that it wanted.
class ProcessorHost {
 public:
  virtual ~ProcessorHost() = default;
  /// returns  the processor time that the process wants next, from now on; below 0: it waits, or has ended.
  virtual Time computed(std::uint32_t process) = 0;
  /// That no processor had anything to do from one time to another; for each processor.
  virtual void idled(Time from, Time to) = 0;
};

/// A process that is ready waits in one queue for all processors; it runs until it has what it wanted or, where others
/// are ready, until its quantum has passed.
/// cost  O(1) for each stretch on a processor, and O(log events) where something else happens meanwhile.
class Processors final : private Timer {
 public:
  Processors(const ProcessorSettings& settings, EventQueue& clock, ProcessorHost& host)
      : settings_(settings), clock_(clock), host_(host), all_(static_cast<std::size_t>(settings.count)) {
    for (std::size_t k = all_.size(); k-- > 0;) add_idle(k);
  }
  void add_process() { processes_.emplace_back(); }

  /// A process wants a processor for some time.
  void ready(std::uint32_t process, Time time) {
    processes_[process].wants = time;
    processes_[process].since = clock_.now();
    queue_.push_back(process);
    if (!idle_.empty() && !starting_) clock_.at(clock_.now(), *this, kDispatch), starting_ = true;
  }

  /// Interrupts a processor: whoever runs on it loses that time.
  void interrupt() {
    if (settings_.interrupt_cost == 0) return;
    interrupts_ += settings_.interrupt_cost;
    Processor& one = all_[next_interrupt_];
    next_interrupt_ = (next_interrupt_ + 1) % all_.size();
    if (one.process != kNobody) one.lost += settings_.interrupt_cost;
  }

  /// Tells of the time until now of processors that have nothing to do.
  void tell_idle() {
    for (const std::size_t index : idle_) tell_idle(all_[index]);
  }

  Time waited(std::uint32_t process) const { return processes_[process].waited; }
  Time interrupts() const noexcept { return interrupts_; }
  std::int64_t switches() const noexcept { return switches_; }
  /// Time that processors had nothing to do, all together, until a time that is not before now.
  Time idle(Time until) const {
    Time sum = idle_time_;
    for (const std::size_t one : idle_) sum += until - all_[one].since;
    return sum;
  }

 private:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr std::uint64_t kDispatch = ~std::uint64_t{0};
  static constexpr std::size_t kBusy = ~std::size_t{0};

  struct Processor {
    std::uint32_t process = kNobody;
    std::uint32_t last = kNobody;
    Time since = 0;               // idle
    Time left = 0;                // of the quantum
    Time running = 0;             // of this stretch
    Time lost = 0;                // to interrupts and switches
    std::size_t idle_at = kBusy;  // in idle_
  };
  struct Process {
    Time wants = 0;
    Time since = 0;  // ready
    Time waited = 0;
    std::size_t processor = 0;  // that it ran on last
  };

  void tell_idle(Processor& one) {
    if (clock_.now() <= one.since) return;
    idle_time_ += clock_.now() - one.since;
    host_.idled(one.since, clock_.now());
    one.since = clock_.now();
  }
  void add_idle(std::size_t index) {
    all_[index].idle_at = idle_.size();
    idle_.push_back(index);
  }
  /// Takes a processor that is idle; the one that is wanted if it is.
  std::size_t leave_idle(std::size_t wanted) {
    const std::size_t index = all_[wanted].idle_at != kBusy ? wanted : idle_.back();
    const std::size_t at = std::exchange(all_[index].idle_at, kBusy);
    const std::size_t last = idle_.back();
    idle_.pop_back();
    if (last != index) {
      idle_[at] = last;
      all_[last].idle_at = at;
    }
    return index;
  }

  void fire(std::uint64_t token) override {
    if (token == kDispatch) {
      starting_ = false;
      while (!idle_.empty() && !queue_.empty()) {
        const std::size_t index = leave_idle(processes_[queue_.front()].processor);
        Processor& one = all_[index];
        tell_idle(one);
        take(one);
        one.running = 0;
        clock_.at(clock_.now(), *this, index);  // when all that are ready have a processor
      }
      return;
    }
    Processor& one = all_[token];
    if (one.lost > 0) {
      clock_.at(clock_.now() + std::exchange(one.lost, 0), *this, token);
      return;
    }
    if (passed(token)) run(token);
  }

  /// Gives a processor the first process that is ready.
  void take(Processor& one) {
    one.process = queue_.front();
    queue_.pop_front();
    Process& process = processes_[one.process];
    process.waited += clock_.now() - process.since;
    process.processor = static_cast<std::size_t>(&one - all_.data());
    if (one.last != one.process && one.last != kNobody) {
      ++switches_;
      one.lost += settings_.switch_cost;
    }
    one.last = one.process;
    one.left = settings_.quantum;
  }

  /// Lets the process of a processor compute until something else happens.
  void run(std::size_t index) {
    Processor& one = all_[index];
    do {
      one.running = std::min(processes_[one.process].wants, one.left);
      const Time end = clock_.now() + one.running + std::exchange(one.lost, 0);
      if (!clock_.pass(end)) {
        clock_.at(end, *this, index);
        return;
      }
    } while (passed(index));
  }

  /// After a stretch; returns whether the processor has something to do.
  bool passed(std::size_t index) {
    Processor& one = all_[index];
    Process& process = processes_[one.process];
    process.wants -= one.running;
    one.left -= one.running;
    if (process.wants == 0) {
      const Time more = host_.computed(one.process);
      if (more < 0) {
        one.process = kNobody;
      } else {
        processes_[one.process].wants = more;
      }
    }
    if (one.process != kNobody && one.left <= 0) {
      if (queue_.empty()) {
        one.left = settings_.quantum;
      } else {
        processes_[one.process].since = clock_.now();
        queue_.push_back(one.process);
        one.process = kNobody;
      }
    }
    if (one.process != kNobody) return true;
    if (!queue_.empty()) {
      take(one);
      return true;
    }
    one.since = clock_.now();
    one.lost = 0;
    add_idle(index);
    return false;
  }

  ProcessorSettings settings_;
  EventQueue& clock_;
  ProcessorHost& host_;
  std::vector<Processor> all_;
  std::vector<std::size_t> idle_;
  std::deque<std::uint32_t> queue_;
  std::vector<Process> processes_;
  bool starting_ = false;
  std::size_t next_interrupt_ = 0;
  Time idle_time_ = 0;
  Time interrupts_ = 0;
  std::int64_t switches_ = 0;
};

}  // namespace plait::simulation
