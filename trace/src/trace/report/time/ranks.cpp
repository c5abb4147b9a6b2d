#include "trace/report/time/ranks.hpp"

#include <algorithm>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

void RanksAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (!call.io) continue;
    const std::size_t row = bytes_.row(call.process);
    const std::size_t column = bytes_.column(call.start);
    times_.row(call.process);  // both pictures have the same axes
    times_.column(call.start);
    if (call.is_data()) add_saturated(bytes_.cell(row, column), call.moved);
    if (call.unshared_start < call.end) cover(call.process, call.unshared_start, call.end);
  }
}

void RanksAnalyser::cover(std::uint32_t process, std::int64_t from, std::int64_t to) {
  bytes_.column(to - 1);
  times_.column(to - 1);
  const std::size_t row = times_.row(process);
  while (from < to) {
    const std::size_t column = times_.column(from);
    const std::int64_t stop = std::min(times_.columns().begin(column + 1), to);
    add_saturated(times_.cell(row, column), stop - from);
    from = stop;
  }
}

void RanksAnalyser::store_results(Report& report) const {
  Ranks& ranks = report.ranks;
  const std::size_t rows = bytes_.used_rows();
  const std::size_t columns = bytes_.used_columns();
  ranks.columns = static_cast<std::int64_t>(columns);
  ranks.width = bytes_.columns().width();
  ranks.merged = bytes_.rows().width();
  ranks.bytes = bytes_.used_cells(rows, columns);
  ranks.times = times_.used_cells(rows, columns);
  ranks.rows.resize(rows);
  for (std::size_t row = 0; row < rows; ++row)
    ranks.rows[row] = static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(ranks.merged);
}

}  // namespace plait::trace::report
