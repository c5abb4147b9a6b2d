/// The accesses and waits of each process.
#pragma once

#include <vector>

#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"

namespace plait::trace::report {

/// Computes the row of each process.
/// memory  about 150 bytes for each process.
class ProcessesAnalyser final : public Analyser {
 public:
  explicit ProcessesAnalyser(const Lookup& lookup) : lookup_(lookup) {}
  void add(std::span<const Call> calls) override;
  void store_results(Report& report) const override;

 private:
  struct State {
    std::array<Traffic, 2> data{};
    std::int64_t begin = -1;
    std::int64_t end = 0;
    std::int64_t cpu = kUnknown;
    std::int64_t opens = 0;
    std::int64_t files = 0;
    std::int64_t io = 0;                 // time in which at least one call ran
    std::int64_t waited = 0;             // time in which at least one synchronous call ran
    std::int64_t hidden = 0;             // CPU time used while asynchronous requests ran
    std::int64_t last_cpu_event = 0;     // start of the last event with a CPU time
    std::int64_t asynchronous_end = -1;  // latest end of the asynchronous requests so far; -1: there are none
  };

  const Lookup& lookup_;
  std::vector<State> states_;
};

}  // namespace plait::trace::report
