// Counts runs as products of the lengths of loops, so that the cost does not depend on the number of runs.

#include "plan/access/run_counter.hpp"

#include <algorithm>

#include "plan/access/file_requests.hpp"
#include "plan/conversion/partners.hpp"
#include "plan/conversion/runs.hpp"

namespace plait::plan {

Cover usual_cover(const AccessPlan& plan) {
  const Section& section = plan.section();
  const std::int64_t bytes = plan.element_bytes();
  const std::int64_t run = std::max<std::int64_t>(section.contiguous_elements(), 1);
  Cover cover{run, run};
  const std::int64_t max_elements = plan.sieve_bytes() / bytes;
  if (max_elements <= run || section.chunks) return cover;
  std::int64_t inside = 1;  // elements of the dimensions that a run takes whole
  for (std::size_t d = section.shape.size(); d-- > 0;) {
    const std::int64_t extent = section.shape[d];
    if (inside < run) {
      inside *= extent;
      continue;
    }
    if (extent <= 1) continue;
    const std::int64_t stride = section.strides[d];
    if ((stride - cover.file_elements) * bytes > kSieveGap) break;
    // The numbers of runs at this distance that fit into the buffer and into one batch of segments.
    const std::int64_t batch = static_cast<std::int64_t>(kBatch) / (cover.elements / run);
    const std::int64_t fitting = std::min((max_elements - cover.file_elements) / stride + 1, batch);
    const std::int64_t together = std::clamp<std::int64_t>(fitting, 1, extent);
    cover.elements *= together;
    cover.file_elements += (together - 1) * stride;
    if (together < extent) break;
  }
  return cover;
}

RunCounter::RunCounter(const AccessPlan& plan, std::int64_t rank)
    : plan_(plan),
      rank_(rank),
      holdings_(plan.owners().holdings(rank)),
      file_strides_(in_bytes(plan.section().strides, plan.element_bytes())),
      dense_strides_(in_bytes(dense_strides(plan.section().shape), plan.element_bytes())) {
  const Extents dense = dense_strides(plan.layout().padded_shape(rank), plan.layout().order());
  const Extents& strides = plan.task().strides;
  array_strides_ = plan.owners().local_strides(strides.empty() ? in_bytes(dense, plan.element_bytes()) : strides);
}

DirectRuns RunCounter::direct() const {
  const std::int64_t runs = count(file_strides_, array_strides_);
  const std::int64_t bytes = plan_.layout().local_elements(rank_) * plan_.element_bytes();
  if (runs == 0 || bytes / runs >= kLongRun) return {runs, runs};
  return {std::min(count(file_strides_, dense_strides_), runs), runs};
}

std::int64_t RunCounter::in_window() const { return count(dense_strides_, array_strides_); }

std::int64_t RunCounter::count(const Extents& a_strides, const Extents& b_strides) const {
  const Extents& shape = plan_.section().shape;
  std::int64_t total = 0;
  for (const RankElements& holding : holdings_) {
    std::vector<Pieces> pieces;
    for (std::size_t d = 0; d < shape.size(); ++d)
      pieces.push_back(intersect(IndexSet::range(0, shape[d]), holding.sets[d]));
    for_each_nest(pieces, a_strides, b_strides, [&](Nest& nest) {
      take_run(nest, plan_.element_bytes());
      std::int64_t runs = 1;
      for (const NestLoop& loop : nest.loops) runs *= loop.count;
      total += runs;
    });
  }
  return total;
}

}  // namespace plait::plan
