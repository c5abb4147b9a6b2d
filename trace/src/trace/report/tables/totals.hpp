/// Total requests and bytes, and the counts of each kind of call: the tables of the paper.
#pragma once

#include <array>

#include "trace/report/call.hpp"
#include "trace/words.hpp"

namespace plait::trace::report {

class TotalsAnalyser final : public Analyser {
 public:
  void add(std::span<const Call> calls) override;
  void store_results(Report& report) const override;

 private:
  Totals totals_;
  std::array<CallRow, kKinds * kInterfaces> calls_{};
};

}  // namespace plait::trace::report
