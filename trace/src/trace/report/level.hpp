/// The events of one level, and the analysers of that level.
#pragma once

#include <memory>
#include <vector>

#include "trace/report/call.hpp"
#include "trace/report/lookup.hpp"
#include "trace/report/tables/processes.hpp"

namespace plait::trace::report {

class Level {
 public:
  Level(const Lookup& lookup, bool logical);
  void add(std::span<const Call> calls);
  const ProcessesAnalyser& processes() const { return *processes_; }
  void result(Report& report) const;

 private:
  bool counts(const Event& event) const;
  void classify(Call& call);
  void clear_of_earlier(Call& call);
  void match_first(Call& call);

  struct OpenState {
    std::int64_t end = -1;  // end of the last access
    bool seen = false;
    bool paired = false;
  };
  struct BusyUntil {
    std::int64_t any = 0;
    std::int64_t waiting = 0;
  };

  const Lookup& lookup_;
  bool logical_;
  std::vector<OpenState> opens_;
  std::vector<BusyUntil> until_;  // one entry for each process
  FlatMap pairs_;                 // key: process << 32 | name
  std::vector<Call> calls_;
  std::unique_ptr<ProcessesAnalyser> processes_;
  std::vector<std::unique_ptr<Analyser>> analysers_;
};

}  // namespace plait::trace::report
