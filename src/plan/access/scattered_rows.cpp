// Divides the loops of a nest into those within a row of the file, the loop over rows, and the loops around it.

#include "plan/access/scattered_rows.hpp"

#include "plan/access/run_counter.hpp"

namespace plait::plan {

std::optional<ScatteredRows> find_scattered_rows(const Nest& nest, const AccessPlan& plan) {
  Nest runs = nest;
  const std::int64_t run = take_run(runs, plan.element_bytes());
  if (run >= kLongRun) return std::nullopt;
  const std::int64_t buffer = plan.staging().direct_buffer_bytes();
  ScatteredRows found;
  found.rest = nest;
  std::vector<NestLoop>& loops = found.rest.loops;
  std::ranges::sort(loops, {}, &NestLoop::a_stride);
  if (loops.empty() || loops.front().a_stride < 0) return std::nullopt;
  found.row_bytes = plan.element_bytes();
  // Loops that continue each other in the file form the row, from the fastest one on, as long as a row fits the buffer.
  while (!loops.empty() && loops.front().a_stride == found.row_bytes &&
         loops.front().count <= buffer / found.row_bytes) {
    found.row_bytes *= loops.front().count;
    found.row.push_back(loops.front());
    loops.erase(loops.begin());
  }
  if (!loops.empty()) {
    found.rows = loops.front();
    loops.erase(loops.begin());
  }
  // A row that is a single run gains nothing from the buffer, unless one request can cover several rows.
  if (found.row_bytes == run && !found.are_contiguous()) return std::nullopt;
  const std::int64_t max_rows = found.are_contiguous() ? found.rows.count : static_cast<std::int64_t>(kBatch);
  found.rows_at_once = std::clamp<std::int64_t>(buffer / found.row_bytes, 1, std::min(max_rows, found.rows.count));
  return found;
}

}  // namespace plait::plan
