/// One copy of a workload's program, as it makes its requests.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random_bits.hpp"
#include "plait/trace.hpp"
#include "trace/workloads1992/spec.hpp"

namespace plait::trace {

/// Makes the events of one copy, in the order of start.  Times in us inside; a clock of CPU time decides when requests
/// are made, and what the process waits for them moves the wall clock away from it.
class Program {
 public:
  Program(const Spec& spec, std::uint64_t seed, std::uint32_t number, std::int64_t start, int burst);

  bool ended() const noexcept { return part_ == Part::kEnded; }
  /// The next event; not after the last.
  const Event& front() const noexcept { return event_; }
  void pop();
  /// All that the program opens, in the order of its opens.
  std::vector<File> files() const;

 private:
  enum class Part : std::uint8_t { kOpen, kRequests, kClose, kExit, kEnded };

  /// Requests that follow each other without longer computations between them.
  struct Burst {
    std::int64_t begin = 0;  // CPU time
    std::int64_t end = 0;
    std::int64_t reads = 0;
    std::int64_t writes = 0;
    std::int64_t text = 0;  // lines of text behind the rest: 0 or 1
    int stages = 1;
  };

  std::int64_t bursts() const { return cycles_ + 2; }
  Burst plan(std::int64_t index);
  void begin_burst(std::int64_t index);
  void make_request();
  void next_read();
  void next_write();
  void emit(Kind kind, std::uint32_t file, std::int64_t offset, std::int64_t length);
  /// How long the store takes for the request of event_.
  std::int64_t service();
  int data_file(int index) const { return index + 2; }
  /// Whether all that is read is the file of parameters.
  bool only_input() const { return !staged_ && spec_.trickle == 0; }

  const Spec& spec_;
  base::RandomBits dice_;
  std::uint32_t number_;
  std::int64_t start_;
  std::int64_t burst_;
  bool staged_;
  std::int64_t cycles_;  // or, without cycles, the one stretch between start and end
  std::int64_t reads_per_cycle_ = 0;
  std::int64_t writes_per_cycle_ = 0;
  std::int64_t first_reads_ = 0;  // of data, before the first cycle
  std::int64_t last_writes_ = 0;
  std::int64_t cycle_begin_ = 0;  // of the cycle that is next, varied
  std::int64_t pace_ = 0;         // CPU time a request at start and end

  Part part_ = Part::kOpen;
  std::int64_t index_ = 0;  // of the burst, or of the file being opened or closed
  Burst now_;
  std::int64_t done_reads_ = 0;  // in this burst
  std::int64_t done_writes_ = 0;
  std::int64_t read_position_ = 0;
  std::int64_t write_position_ = 0;

  std::int64_t cpu_ = 0;
  std::int64_t waited_ = 0;      // wall time beyond CPU time, since start_
  std::int64_t store_free_ = 0;  // wall time at which the store has done all asynchronous requests
  std::uint32_t last_file_ = 0;
  std::vector<std::int64_t> ends_;  // by file: behind its last request
  std::uint64_t operations_ = 0;
  Event event_;
};

}  // namespace plait::trace
