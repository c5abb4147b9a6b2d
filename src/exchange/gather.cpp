// Several targets filled together from sources in reachable memory.
//
// Neighbouring targets read interleaved parts of the same source lines. If one worker filled them one after another,
// each line would be loaded once for each target. Therefore gather() advances through all targets together, in as many
// steps as the longest of them has units (rows or tiles), and a target with fewer units advances proportionally.
//
// Example: targets with 10 and 4 units make 10 steps. In step 4 the first one runs unit [4, 5) and the second one [4 *
// 4 / 10, 5 * 4 / 10) = [1, 2). In step 3 the second one runs [1, 1), that is, nothing. With two workers (WorkPart),
// worker 0 does the steps 0 to 4 and worker 1 the steps 5 to 9.

#include "exchange/gather.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "copy/strided_copy.hpp"

namespace plait::exchange {

namespace {

/// The units [begin, end) of a target that belong to a step.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};

// Returns units * step / steps, rounded down, without overflow.
std::int64_t scaled(std::int64_t units, std::int64_t turn, std::int64_t turns) {
  return units / turns * turn + units % turns * turn / turns;
}

Range share_range(std::int64_t units, std::int64_t turn, std::int64_t turns) {
  return {scaled(units, turn, turns), scaled(units, turn + 1, turns)};
}

}  // namespace

Gather::Gather(const Extents& target_shape, const DimensionOrder& source_order, const DimensionOrder& target_order,
               std::int64_t element_bytes, std::vector<Share> shares)
    : shape_(target_shape),
      source_order_(source_order),
      target_order_(target_order),
      element_bytes_(element_bytes),
      shares_(std::move(shares)) {
  rows_ = Rows::make(shape_, source_order_, target_order_, element_bytes_, shares_);
  by_rows_ = rows_.has_value();
  if (!by_rows_) tiles_.emplace(shape_, source_order_, target_order_, element_bytes_, shares_);
}

void Gather::fit(std::span<const copy::LocalArray> sources, const copy::LocalArray& target) {
  by_rows_ = rows_ && rows_->fits(target.strides) &&
             std::all_of(shares_.begin(), shares_.end(),
                         [&](const Share& share) { return rows_->fits(sources[share.source].strides); });
  if (!by_rows_ && !tiles_) tiles_.emplace(shape_, source_order_, target_order_, element_bytes_, shares_);
}

std::int64_t Gather::stage_bytes() const {
  return std::max(rows_ ? rows_->stage_bytes() : 0, tiles_ ? tiles_->stage_bytes() : 0);
}

void gather(std::span<const Gather* const> gathers, std::span<const copy::LocalArray> sources,
            std::span<const copy::LocalArray> targets, std::byte* stage, WorkPart part) {
  std::int64_t turns = 0;
  for (const Gather* one : gathers) turns = std::max(turns, one->units());
  const Range mine = share_range(turns, part.number, part.of);
  Prefetch prefetch;
  for (std::int64_t turn = mine.begin; turn < mine.end; ++turn) {
    // While the rows of one step are assembled, the memory that the next step reads is prefetched.
    prefetch.clear();
    std::int64_t pauses = 0;
    for (const Gather* one : gathers) {
      if (!one->by_rows_) continue;
      const Range now = share_range(one->units(), turn, turns);
      for (std::int64_t row = now.begin; row < now.end; ++row) pauses += one->rows_->ticks(row);
      if (turn + 1 == mine.end) continue;
      const Range next = share_range(one->units(), turn + 1, turns);
      for (std::int64_t row = next.begin; row < next.end; ++row) one->rows_->reads(row, sources, prefetch);
    }
    prefetch.spread(pauses);
    for (std::size_t i = 0; i < gathers.size(); ++i) {
      const Range now = share_range(gathers[i]->units(), turn, turns);
      if (!gathers[i]->by_rows_) {
        gathers[i]->tiles_->run(sources, targets[i], stage, now.begin, now.end);
        continue;
      }
      for (std::int64_t row = now.begin; row < now.end; ++row)
        gathers[i]->rows_->run(row, sources, targets[i], stage, prefetch);
    }
  }
  // Streamed stores must be visible before the agreement that follows publishes the targets.
  copy::settle();
}

}  // namespace plait::exchange
