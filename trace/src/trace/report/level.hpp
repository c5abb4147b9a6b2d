/// The events of one level, logical or physical, and the analysers of that level.
#pragma once

#include <memory>
#include <vector>

#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"
#include "trace/report/tables/processes.hpp"

namespace plait::trace::report {

/// Classifies the calls of one level and passes them to its analysers.
class Level {
 public:
  Level(const Lookup& lookup, bool logical);
  void add(std::span<const Call> calls);
  const ProcessesAnalyser& processes() const { return *processes_; }
  void store_results(Report& report) const;

 private:
  /// Returns true if an event belongs to this level.
  bool belongs(const Event& event) const;
  void set_sequence(Call& call);
  void set_unshared(Call& call);
  /// Sets Call::opens and Call::first_of_pair.
  void set_first(Call& call);

  struct OpenState {
    std::int64_t end = -1;    // end of the last access
    bool has_events = false;  // true after the first event of the open
    bool is_paired = false;   // true if the pair of its process and name is in pairs_
  };
  /// Latest ends of the calls of one process.
  struct BusyUntil {
    std::int64_t any = 0;
    std::int64_t waiting = 0;  // of synchronous calls only
  };

  const Lookup& lookup_;
  bool logical_;
  std::vector<OpenState> opens_;
  std::vector<BusyUntil> busy_until_;  // one entry for each process
  FlatMap pairs_;                      // key: process << 32 | name, for each pair that has an event
  std::vector<Call> calls_;
  std::unique_ptr<ProcessesAnalyser> processes_;
  std::vector<std::unique_ptr<Analyser>> analysers_;
};

}  // namespace plait::trace::report
