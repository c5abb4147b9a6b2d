/// Processes against time.
#pragma once

#include "trace/report/call.hpp"
#include "trace/report/time/bins.hpp"

namespace plait::trace::report {

/// A row a process; where there are more than kRows, neighbours in the order of their first events share one.
class RanksAnalyser final : public Analyser {
 public:
  static constexpr std::size_t kRows = 512;
  static constexpr std::size_t kColumns = 256;

  void add(std::span<const Call> calls) override;
  void result(Report& report) const override;

 private:
  void cover(std::uint32_t process, std::int64_t from, std::int64_t to);

  Grid bytes_{kColumns, kRows};
  Grid times_{kColumns, kRows};
};

}  // namespace plait::trace::report
