/// Lists the requests of an access to a store: the stretches of the file, in ascending order and in batches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/access/access_plan.hpp"
#include "plan/conversion/pieces.hpp"
#include "plan/conversion/runs.hpp"

namespace plait::plan {

/// Maximum number of segments of one batch.  It bounds the memory for lists of short runs.
inline constexpr std::size_t kBatch = 1024;

/// Calls `visit(group)` for each group of short runs of a range that one read covers.  The group is a std::span<const
/// FileRun>.  usual_cover() (run_counter.hpp) predicts the size of a group from the same limits.
template <typename Visit>
void for_each_cover(const AccessPlan& plan, PositionRange range, Visit&& visit) {
  const std::int64_t bytes = plan.element_bytes();
  // Runs of two chunks are not combined, because the bytes between them may belong to other ranks' chunks.
  const std::int64_t chunk = plan.section().chunks ? plan.section().chunks->padded_elements() : 0;
  const std::int64_t max_bytes = plan.sieve_bytes();
  std::vector<FileRun> group;
  const auto visit_group = [&] {
    if (!group.empty()) visit(std::span<const FileRun>(group));
    group.clear();
  };
  for_each_file_run(plan.section(), range.begin, range.end, [&](const FileRun& run) {
    if (!group.empty()) {
      const std::int64_t gap = run.file - group.back().file - group.back().elements;
      const std::int64_t cover = run.file + run.elements - group.front().file;
      const bool leaves_chunk = chunk > 0 && run.file / chunk != group.front().file / chunk;
      if (gap * bytes > kSieveGap || cover * bytes > max_bytes || group.size() == kBatch || leaves_chunk) visit_group();
    }
    group.push_back(run);
  });
  visit_group();
}

/// Calls visit(position on side a, position on side b) for each iteration of a nest, ascending on side a.
template <typename Visit>
void for_each_iteration(Nest& nest, Visit&& visit) {
  std::sort(nest.loops.begin(), nest.loops.end(),
            [](const NestLoop& a, const NestLoop& b) { return a.a_stride > b.a_stride; });
  std::vector<std::int64_t> index(nest.loops.size(), 0);
  std::int64_t a = nest.a;
  std::int64_t b = nest.b;
  while (true) {
    visit(a, b);
    std::size_t i = nest.loops.size();
    for (; i > 0; --i) {
      const NestLoop& loop = nest.loops[i - 1];
      a += loop.a_stride;
      b += loop.b_stride;
      if (++index[i - 1] < loop.count) break;
      index[i - 1] = 0;
      a -= loop.a_stride * loop.count;
      b -= loop.b_stride * loop.count;
    }
    if (i == 0) return;
  }
}

/// Calls `visit(Nest&)` for each product of pieces that a rank reads or writes directly; `visit` may change the nest.
/// Side a is the file from the beginning of its array, side b the local array, both in bytes.
/// strides Strides of the local array in bytes, one for each dimension of the layout.
template <typename Visit>
void for_each_direct_nest(const AccessPlan& plan, std::int64_t rank, const Extents& strides, Visit&& visit) {
  const Section& section = plan.section();
  const std::int64_t base = section.origin * plan.element_bytes();
  const Extents array_strides = plan.owners().local_strides(strides);
  for (const RankElements& holding : plan.owners().holdings(rank)) {
    std::vector<Pieces> pieces;
    Extents file_strides;
    std::int64_t first_position = 0;
    for (std::size_t d = 0; d < holding.sets.size(); ++d) {
      pieces.push_back(intersect(IndexSet::range(0, section.shape[d]), holding.sets[d]));
      file_strides.push_back(section.strides[d] * plan.element_bytes());
      first_position += holding.positions[d] * array_strides[d];
    }
    for_each_nest(pieces, file_strides, array_strides, [&](Nest& nest) {
      nest.a += base;
      nest.b += first_position;
      visit(nest);
    });
  }
}

}  // namespace plait::plan
