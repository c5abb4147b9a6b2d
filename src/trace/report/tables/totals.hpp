/// What the tables of the paper are made of: requests and bytes in all, and each kind of call.
#pragma once

#include <array>

#include "trace/report/call.hpp"
#include "trace/words.hpp"

namespace plait::trace::report {

class TotalsAnalyser final : public Analyser {
 public:
  void add(std::span<const Call> calls) override;
  void result(Report& report) const override;

 private:
  Totals totals_;
  std::array<CallRow, kKinds * kInterfaces> calls_{};
};

}  // namespace plait::trace::report
