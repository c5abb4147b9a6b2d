/// Generates the events of one copy of a workload's program.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random_bits.hpp"
#include "plait/trace.hpp"
#include "trace/workloads1992/spec.hpp"

namespace plait::trace {

/// The events of one copy, in the order of their starts. Internal times are in us. There are two clocks: requests are
/// made at times of the CPU clock, and the wall clock is ahead of it by the time for which the process has waited for
/// requests.
class Program {
 public:
  /// number: number of the copy's process, from 1.  start: wall time.  burst: thousandths of a cycle's CPU time in
  /// which its requests are made; 0: as the spec states.
  Program(const Spec& spec, std::uint64_t seed, std::uint32_t number, std::int64_t start, int burst);

  bool has_ended() const noexcept { return phase_ == Phase::kEnded; }
  /// Returns the current event.  pre  !has_ended()
  const Event& event() const noexcept { return event_; }
  /// Generates the next event, or ends the program after the last one.
  void advance();
  /// Returns all files of the program in the order of its opens.
  std::vector<File> files() const;

 private:
  enum class Phase : std::uint8_t { kOpen, kRequests, kClose, kExit, kEnded };

  /// Requests without long computations between them.
  struct Burst {
    std::int64_t begin = 0;  // in CPU time
    std::int64_t end = 0;
    std::int64_t reads = 0;
    std::int64_t writes = 0;
    std::int64_t text = 0;  // lines of text after the other writes: 0 or 1
    int stages = 1;
  };

  std::int64_t burst_count() const { return cycles_ + 2; }
  /// Returns burst number `index`: 0 is the start of the program, the last one its end, and the others are cycles.
  Burst plan_burst(std::int64_t index);
  void begin_burst(std::int64_t index);
  /// Generate the next request of the current burst: of any kind, a read, a write.
  void make_request();
  void emit_read();
  void emit_write();
  /// Sets event_, and advances the clocks by the time for which the process waits.
  void emit(Kind kind, std::uint32_t file, std::int64_t offset, std::int64_t length);
  /// Returns the time that the disks take for the request in event_, and records where the request ends.
  std::int64_t take_service_time();
  int data_file(int index) const { return index + 2; }
  /// True if the program reads nothing but the file of parameters.
  bool reads_only_input() const { return !has_cycles_ && spec_.writes_in_between == 0; }

  const Spec& spec_;
  base::RandomBits random_;
  std::uint32_t number_;
  std::int64_t start_;
  std::int64_t burst_share_;
  bool has_cycles_;
  std::int64_t cycles_;  // number of cycles; without cycles 1, the time between start and end
  std::int64_t reads_per_cycle_ = 0;
  std::int64_t writes_per_cycle_ = 0;
  std::int64_t first_reads_ = 0;  // reads of data before the first cycle
  std::int64_t last_writes_ = 0;
  std::int64_t cycle_begin_ = 0;    // begin of the next cycle, with its variation
  std::int64_t edge_interval_ = 0;  // CPU time per request at start and end

  Phase phase_ = Phase::kOpen;
  std::int64_t burst_or_file_ = 0;  // index of the burst, or of the file being opened or closed
  Burst current_burst_;
  std::int64_t done_reads_ = 0;  // in this burst
  std::int64_t done_writes_ = 0;
  std::int64_t read_position_ = 0;
  std::int64_t write_position_ = 0;

  std::int64_t cpu_ = 0;
  std::int64_t waiting_time_ = 0;  // wall time minus CPU time, since start_
  std::int64_t store_free_ = 0;    // wall time at which the store has finished all asynchronous requests
  std::uint32_t last_file_ = 0;
  std::vector<std::int64_t> last_ends_;  // end of the last request of each file
  std::uint64_t operations_ = 0;
  Event event_;
};

}  // namespace plait::trace
