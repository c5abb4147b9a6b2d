/// Processors with round-robin scheduling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "simulation/clock/event_queue.hpp"
#include "simulation/replay/settings.hpp"

namespace plait::simulation {

/// The receiver of events of processors.
class ProcessorHost {
 public:
  virtual ~ProcessorHost() = default;
  /// A process has used the processor time that it requested.
  /// returns  the processor time that it needs next, starting now; below 0: it waits, or has ended.
  virtual Time computed(std::uint32_t process) = 0;
  /// A processor was idle between two times.
  virtual void idled(Time from, Time to) = 0;
};

/// Ready processes wait in one queue for all processors. A process runs until it has used the time that it requested
/// or, if others are ready, until its quantum has ended.
///
/// Example: one processor, a quantum of 10 ms, processes A and B that both request 15 ms at 0. A runs until 10, B
/// until 20, A until 25 and B until 30 ms. Without B, A runs 15 ms without a switch.
/// cost  O(1) for each interval on a processor, and O(log events) if another event happens meanwhile.
class Processors final : private Timer {
 public:
  Processors(const ProcessorSettings& settings, EventQueue& clock, ProcessorHost& host)
      : settings_(settings), clock_(clock), host_(host), all_(static_cast<std::size_t>(settings.count)) {
    for (std::size_t k = all_.size(); k-- > 0;) add_idle(k);
  }
  void add_process() { processes_.emplace_back(); }

  /// Queues a process that needs a processor for `time`.
  void ready(std::uint32_t process, Time time) {
    processes_[process].wants = time;
    processes_[process].since = clock_.now();
    queue_.push_back(process);
    if (!idle_.empty() && !starting_) clock_.schedule(clock_.now(), *this, kDispatch), starting_ = true;
  }

  /// Interrupts a processor. The process that runs on it loses the time of the interrupt.
  void interrupt() {
    if (settings_.interrupt_cost == 0) return;
    interrupts_ += settings_.interrupt_cost;
    Processor& processor = all_[next_interrupt_];
    next_interrupt_ = (next_interrupt_ + 1) % all_.size();
    if (processor.process != kNoProcess) processor.lost += settings_.interrupt_cost;
  }

  /// Reports the time that idle processors have been idle until now.
  void notify_idle() {
    for (const std::size_t index : idle_) notify_idle(all_[index]);
  }

  Time waited(std::uint32_t process) const { return processes_[process].waited; }
  Time interrupts() const noexcept { return interrupts_; }
  std::int64_t switches() const noexcept { return switches_; }
  /// Idle time of all processors together until `until`, which is not before now.
  Time idle(Time until) const {
    Time sum = idle_time_;
    for (const std::size_t index : idle_) sum += until - all_[index].since;
    return sum;
  }

 private:
  static constexpr std::uint32_t kNoProcess = ~std::uint32_t{0};
  static constexpr std::uint64_t kDispatch = ~std::uint64_t{0};
  static constexpr std::size_t kBusy = ~std::size_t{0};

  struct Processor {
    std::uint32_t process = kNoProcess;
    std::uint32_t last = kNoProcess;
    Time since = 0;               // time since which it is idle
    Time left = 0;                // rest of the quantum
    Time running = 0;             // length of the current interval
    Time lost = 0;                // time lost to interrupts and switches
    std::size_t idle_at = kBusy;  // index in idle_
  };
  struct Process {
    Time wants = 0;
    Time since = 0;  // time since which it is ready
    Time waited = 0;
    std::size_t processor = 0;  // processor that it last ran on
  };

  void notify_idle(Processor& processor) {
    if (clock_.now() <= processor.since) return;
    idle_time_ += clock_.now() - processor.since;
    host_.idled(processor.since, clock_.now());
    processor.since = clock_.now();
  }
  void add_idle(std::size_t index) {
    all_[index].idle_at = idle_.size();
    idle_.push_back(index);
  }
  /// Removes a processor from the idle ones: `wanted` if it is idle, otherwise another.
  std::size_t leave_idle(std::size_t preferred) {
    const std::size_t index = all_[preferred].idle_at != kBusy ? preferred : idle_.back();
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
        Processor& processor = all_[index];
        notify_idle(processor);
        take(processor);
        processor.running = 0;
        clock_.schedule(clock_.now(), *this, index);  // begins after all ready processes have a processor
      }
      return;
    }
    Processor& processor = all_[token];
    if (processor.lost > 0) {
      clock_.schedule(clock_.now() + std::exchange(processor.lost, 0), *this, token);
      return;
    }
    if (passed(token)) run(token);
  }

  /// Assigns the first ready process to a processor.
  void take(Processor& processor) {
    processor.process = queue_.front();
    queue_.pop_front();
    Process& process = processes_[processor.process];
    process.waited += clock_.now() - process.since;
    process.processor = static_cast<std::size_t>(&processor - all_.data());
    if (processor.last != processor.process && processor.last != kNoProcess) {
      ++switches_;
      processor.lost += settings_.switch_cost;
    }
    processor.last = processor.process;
    processor.left = settings_.quantum;
  }

  /// Lets the process of a processor compute until the next event.
  void run(std::size_t index) {
    Processor& processor = all_[index];
    do {
      processor.running = std::min(processes_[processor.process].wants, processor.left);
      const Time end = clock_.now() + processor.running + std::exchange(processor.lost, 0);
      if (!clock_.try_advance(end)) {
        clock_.schedule(end, *this, index);
        return;
      }
    } while (passed(index));
  }

  /// Ends an interval. Returns true if the processor has a process to run.
  bool passed(std::size_t index) {
    Processor& processor = all_[index];
    Process& process = processes_[processor.process];
    process.wants -= processor.running;
    processor.left -= processor.running;
    if (process.wants == 0) {
      const Time more = host_.computed(processor.process);
      if (more < 0) {
        processor.process = kNoProcess;
      } else {
        processes_[processor.process].wants = more;
      }
    }
    if (processor.process != kNoProcess && processor.left <= 0) {
      if (queue_.empty()) {
        processor.left = settings_.quantum;
      } else {
        processes_[processor.process].since = clock_.now();
        queue_.push_back(processor.process);
        processor.process = kNoProcess;
      }
    }
    if (processor.process != kNoProcess) return true;
    if (!queue_.empty()) {
      take(processor);
      return true;
    }
    processor.since = clock_.now();
    processor.lost = 0;
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
