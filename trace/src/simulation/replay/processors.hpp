/// The processors of a simulated machine, with round-robin scheduling of processes.
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
  /// Called when a process has used the processor time that it requested.
  /// returns  the processor time that it needs next, starting now; below 0: it waits, or has ended.
  virtual Time on_computed(std::uint32_t process) = 0;
  /// Called when a processor was idle between two times.
  virtual void on_idle(Time from, Time to) = 0;
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
      : settings_(settings), clock_(clock), host_(host), processors_(static_cast<std::size_t>(settings.count)) {
    for (std::size_t k = processors_.size(); k-- > 0;) add_idle(k);
  }
  void add_process() { processes_.emplace_back(); }

  /// Queues a process that needs a processor for `time`.
  void enqueue(std::uint32_t process, Time time) {
    processes_[process].requested_time = time;
    processes_[process].ready_since = clock_.now();
    queue_.push_back(process);
    if (!idle_processors_.empty() && !dispatch_scheduled_) {
      clock_.schedule(clock_.now(), *this, kDispatch);
      dispatch_scheduled_ = true;
    }
  }

  /// Interrupts a processor. The process that runs on it loses the time of the interrupt.
  void interrupt() {
    if (settings_.interrupt_cost == 0) return;
    interrupts_ += settings_.interrupt_cost;
    Processor& processor = processors_[next_interrupt_];
    next_interrupt_ = (next_interrupt_ + 1) % processors_.size();
    if (processor.process != kNoProcess) processor.lost_time += settings_.interrupt_cost;
  }

  /// Reports the time that idle processors have been idle until now.
  void notify_idle() {
    for (const std::size_t index : idle_processors_) notify_idle(processors_[index]);
  }

  Time waited(std::uint32_t process) const { return processes_[process].waited; }
  Time interrupts() const noexcept { return interrupts_; }
  std::int64_t switches() const noexcept { return switches_; }
  /// Idle time of all processors together until `until`, which is not before now.
  Time idle_time(Time until) const {
    Time sum = idle_time_;
    for (const std::size_t index : idle_processors_) sum += until - processors_[index].idle_since;
    return sum;
  }

 private:
  static constexpr std::uint32_t kNoProcess = ~std::uint32_t{0};
  static constexpr std::uint64_t kDispatch = ~std::uint64_t{0};
  static constexpr std::size_t kNotIdle = ~std::size_t{0};

  struct Processor {
    std::uint32_t process = kNoProcess;
    std::uint32_t last_process = kNoProcess;  // process that ran before; another one costs a switch
    Time idle_since = 0;                      // time since which it is idle
    Time quantum_left = 0;                    // time until the quantum of the process ends
    Time interval_length = 0;                 // length of the current interval
    Time lost_time = 0;                       // time lost to interrupts and switches
    std::size_t idle_index = kNotIdle;        // index in idle_processors_
  };
  struct Process {
    Time requested_time = 0;
    Time ready_since = 0;  // time since which it is ready
    Time waited = 0;
    std::size_t processor = 0;  // processor that it last ran on
  };

  void notify_idle(Processor& processor) {
    if (clock_.now() <= processor.idle_since) return;
    idle_time_ += clock_.now() - processor.idle_since;
    host_.on_idle(processor.idle_since, clock_.now());
    processor.idle_since = clock_.now();
  }
  void add_idle(std::size_t index) {
    processors_[index].idle_index = idle_processors_.size();
    idle_processors_.push_back(index);
  }
  /// Removes a processor from the idle ones, `preferred` if it is idle, and returns its index.
  std::size_t take_idle(std::size_t preferred) {
    const std::size_t index = processors_[preferred].idle_index != kNotIdle ? preferred : idle_processors_.back();
    const std::size_t hole = std::exchange(processors_[index].idle_index, kNotIdle);
    const std::size_t last_idle = idle_processors_.back();
    idle_processors_.pop_back();
    if (last_idle != index) {
      idle_processors_[hole] = last_idle;
      processors_[last_idle].idle_index = hole;
    }
    return index;
  }

  void fire(std::uint64_t token) override {
    if (token == kDispatch) {
      dispatch_scheduled_ = false;
      while (!idle_processors_.empty() && !queue_.empty()) {
        const std::size_t index = take_idle(processes_[queue_.front()].processor);
        Processor& processor = processors_[index];
        notify_idle(processor);
        assign_first_ready(processor);
        processor.interval_length = 0;
        clock_.schedule(clock_.now(), *this, index);  // begins after all ready processes have a processor
      }
      return;
    }
    Processor& processor = processors_[token];
    if (processor.lost_time > 0) {
      clock_.schedule(clock_.now() + std::exchange(processor.lost_time, 0), *this, token);
      return;
    }
    if (end_interval(token)) run(token);
  }

  /// Assigns the first ready process to a processor.
  void assign_first_ready(Processor& processor) {
    processor.process = queue_.front();
    queue_.pop_front();
    Process& process = processes_[processor.process];
    process.waited += clock_.now() - process.ready_since;
    process.processor = static_cast<std::size_t>(&processor - processors_.data());
    if (processor.last_process != processor.process && processor.last_process != kNoProcess) {
      ++switches_;
      processor.lost_time += settings_.switch_cost;
    }
    processor.last_process = processor.process;
    processor.quantum_left = settings_.quantum;
  }

  /// Lets the process of a processor compute until the next event.
  void run(std::size_t index) {
    Processor& processor = processors_[index];
    do {
      processor.interval_length = std::min(processes_[processor.process].requested_time, processor.quantum_left);
      const Time end = clock_.now() + processor.interval_length + std::exchange(processor.lost_time, 0);
      if (!clock_.try_advance(end)) {
        clock_.schedule(end, *this, index);
        return;
      }
    } while (end_interval(index));
  }

  /// Ends an interval. Returns true if the processor has a process to run.
  bool end_interval(std::size_t index) {
    Processor& processor = processors_[index];
    Process& process = processes_[processor.process];
    process.requested_time -= processor.interval_length;
    processor.quantum_left -= processor.interval_length;
    if (process.requested_time == 0) {
      const Time more = host_.on_computed(processor.process);
      if (more < 0) {
        processor.process = kNoProcess;
      } else {
        processes_[processor.process].requested_time = more;
      }
    }
    if (processor.process != kNoProcess && processor.quantum_left <= 0) {
      if (queue_.empty()) {
        processor.quantum_left = settings_.quantum;
      } else {
        processes_[processor.process].ready_since = clock_.now();
        queue_.push_back(processor.process);
        processor.process = kNoProcess;
      }
    }
    if (processor.process != kNoProcess) return true;
    if (!queue_.empty()) {
      assign_first_ready(processor);
      return true;
    }
    processor.idle_since = clock_.now();
    processor.lost_time = 0;
    add_idle(index);
    return false;
  }

  ProcessorSettings settings_;
  EventQueue& clock_;
  ProcessorHost& host_;
  std::vector<Processor> processors_;
  std::vector<std::size_t> idle_processors_;
  std::deque<std::uint32_t> queue_;  // ready processes, the first is next
  std::vector<Process> processes_;
  bool dispatch_scheduled_ = false;  // true if a kDispatch event is pending
  std::size_t next_interrupt_ = 0;
  Time idle_time_ = 0;
  Time interrupts_ = 0;
  std::int64_t switches_ = 0;
};

}  // namespace plait::simulation
