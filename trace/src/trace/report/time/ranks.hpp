/// Accesses of processes over time.
#pragma once

#include "trace/report/call.hpp"
#include "trace/report/time/bins.hpp"

namespace plait::trace::report {

/// One row for each process. If there are more than kRows, neighbours in the order of their first events share a row.
class RanksAnalyser final : public Analyser {
 public:
  static constexpr std::size_t kRows = 512;
  static constexpr std::size_t kColumns = 256;

  void add(std::span<const Call> calls) override;
  void store_results(Report& report) const override;

 private:
  void cover(std::uint32_t process, std::int64_t from, std::int64_t to);

  Grid bytes_{kColumns, kRows};
  Grid times_{kColumns, kRows};
};

}  // namespace plait::trace::report
