/// One copy of a workload's program.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random_bits.hpp"
#include "plait/trace.hpp"
#include "trace/workloads1992/spec.hpp"

namespace plait::trace {

/// Generates the events of one copy in the order of their starts. Internal times are in us. A CPU clock decides when
/// requests are made, and the waits of the process move the wall clock ahead of it.
class Program {
 public:
  Program(const Spec& spec, std::uint64_t seed, std::uint32_t number, std::int64_t start, int burst);

  bool ended() const noexcept { return part_ == Part::kEnded; }
  /// Returns the next event. Must not be called after the last one.
  const Event& front() const noexcept { return event_; }
  void pop();
  /// Returns all files of the program in the order of its opens.
  std::vector<File> files() const;

 private:
  enum class Part : std::uint8_t { kOpen, kRequests, kClose, kExit, kEnded };

  /// Requests without long computations between them.
  struct Burst {
    std::int64_t begin = 0;  // in CPU time
    std::int64_t end = 0;
    std::int64_t reads = 0;
    std::int64_t writes = 0;
    std::int64_t text = 0;  // lines of text after the other writes: 0 or 1
    int stages = 1;
  };

  std::int64_t bursts() const { return cycles_ + 2; }
  Burst plan(std::int64_t index);
  void begin_burst(std::int64_t index);
  void make_request();
  void next_read();
  void next_write();
  void emit(Kind kind, std::uint32_t file, std::int64_t offset, std::int64_t length);
  /// Time that the store takes for the request in event_.
  std::int64_t service();
  int data_file(int index) const { return index + 2; }
  /// True if the program reads nothing but the file of parameters.
  bool only_input() const { return !staged_ && spec_.trickle == 0; }

  const Spec& spec_;
  base::RandomBits dice_;
  std::uint32_t number_;
  std::int64_t start_;
  std::int64_t burst_;
  bool staged_;
  std::int64_t cycles_;  // number of cycles; without cycles 1, the time between start and end
  std::int64_t reads_per_cycle_ = 0;
  std::int64_t writes_per_cycle_ = 0;
  std::int64_t first_reads_ = 0;  // reads of data before the first cycle
  std::int64_t last_writes_ = 0;
  std::int64_t cycle_begin_ = 0;  // begin of the next cycle, with its variation
  std::int64_t pace_ = 0;         // CPU time per request at start and end

  Part part_ = Part::kOpen;
  std::int64_t index_ = 0;  // index of the burst, or of the file being opened or closed
  Burst now_;
  std::int64_t done_reads_ = 0;  // in this burst
  std::int64_t done_writes_ = 0;
  std::int64_t read_position_ = 0;
  std::int64_t write_position_ = 0;

  std::int64_t cpu_ = 0;
  std::int64_t waited_ = 0;      // wall time minus CPU time, since start_
  std::int64_t store_free_ = 0;  // wall time at which the store has finished all asynchronous requests
  std::uint32_t last_file_ = 0;
  std::vector<std::int64_t> ends_;  // end of the last request of each file
  std::uint64_t operations_ = 0;
  Event event_;
};

}  // namespace plait::trace
