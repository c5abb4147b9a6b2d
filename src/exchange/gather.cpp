// Fills several targets together from sources that this process can read.
//
// Neighbouring targets read interleaved parts of the same source lines. If one worker filled them one after another,
// each line would be loaded once for each target. Therefore gather() advances through all targets together, in as many
// turns as the longest of them has units (rows or tiles). A target with fewer units advances proportionally.
//
// Example: targets with 10 and 4 units take 10 turns. In turn 4 the first one runs the units [4, 5) and the second one
// [4 * 4 / 10, 5 * 4 / 10) = [1, 2). In turn 3 the second one runs [1, 1), that is, nothing. With two workers
// (WorkPart), worker 0 does the turns 0 to 4 and worker 1 the turns 5 to 9.

#include "exchange/gather.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "copy/strided_copy.hpp"

namespace plait::exchange {

namespace {

/// A range [begin, end) of units or turns.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};

/// Returns units * turn / turns, rounded down, without overflow.
std::int64_t scaled(std::int64_t units, std::int64_t turn, std::int64_t turns) {
  return units / turns * turn + units % turns * turn / turns;
}

/// Returns the units of a target that belong to a turn.
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
  for (const Gather* item : gathers) turns = std::max(turns, item->units());
  const Range my_turns = share_range(turns, part.number, part.of);
  Prefetch prefetch;
  for (std::int64_t turn = my_turns.begin; turn < my_turns.end; ++turn) {
    // While the rows of one turn are assembled, the memory that the next turn reads is prefetched.
    prefetch.clear();
    std::int64_t ticks = 0;
    for (const Gather* item : gathers) {
      if (!item->by_rows_) continue;
      const Range units = share_range(item->units(), turn, turns);
      for (std::int64_t row = units.begin; row < units.end; ++row) ticks += item->rows_->ticks(row);
      if (turn + 1 == my_turns.end) continue;
      const Range next_units = share_range(item->units(), turn + 1, turns);
      for (std::int64_t row = next_units.begin; row < next_units.end; ++row) item->rows_->reads(row, sources, prefetch);
    }
    prefetch.spread(ticks);
    for (std::size_t i = 0; i < gathers.size(); ++i) {
      const Range units = share_range(gathers[i]->units(), turn, turns);
      if (!gathers[i]->by_rows_) {
        gathers[i]->tiles_->run(sources, targets[i], stage, units.begin, units.end);
        continue;
      }
      for (std::int64_t row = units.begin; row < units.end; ++row)
        gathers[i]->rows_->run(row, sources, targets[i], stage, prefetch);
    }
  }
  // Streamed stores must be visible before the agreement that follows publishes the targets.
  copy::fence();
}

}  // namespace plait::exchange
