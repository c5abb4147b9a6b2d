#include "exchange/gather.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "copy/strided_copy.hpp"

namespace plait::exchange {

namespace {

/// Units [begin, end) of `units` that belong to step `step` of `steps`.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};

std::int64_t scaled(std::int64_t units, std::int64_t step, std::int64_t steps) {
  return units / steps * step + units % steps * step / steps;
}

Range range_of(std::int64_t units, std::int64_t step, std::int64_t steps) {
  return {scaled(units, step, steps), scaled(units, step + 1, steps)};
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
  by_rows_ = rows_ && rows_->fits(target.steps) && std::all_of(shares_.begin(), shares_.end(), [&](const Share& share) {
               return rows_->fits(sources[share.source].steps);
             });
  if (!by_rows_ && !tiles_) tiles_.emplace(shape_, source_order_, target_order_, element_bytes_, shares_);
}

std::int64_t Gather::stage_bytes() const {
  return std::max(rows_ ? rows_->stage_bytes() : 0, tiles_ ? tiles_->stage_bytes() : 0);
}

void gather(std::span<const Gather* const> gathers, std::span<const copy::LocalArray> sources,
            std::span<const copy::LocalArray> targets, std::byte* stage, WorkPart part) {
  std::int64_t steps = 0;
  for (const Gather* one : gathers) steps = std::max(steps, one->units());
  const Range mine = range_of(steps, part.number, part.of);
  Prefetch prefetch;
  for (std::int64_t step = mine.begin; step < mine.end; ++step) {
    // While one step's rows are put together, those of the next one are asked for.
    prefetch.clear();
    std::int64_t pauses = 0;
    for (const Gather* one : gathers) {
      if (!one->by_rows_) continue;
      const Range now = range_of(one->units(), step, steps);
      for (std::int64_t row = now.begin; row < now.end; ++row) pauses += one->rows_->steps(row);
      if (step + 1 == mine.end) continue;
      const Range next = range_of(one->units(), step + 1, steps);
      for (std::int64_t row = next.begin; row < next.end; ++row) one->rows_->reads(row, sources, prefetch);
    }
    prefetch.spread(pauses);
    for (std::size_t i = 0; i < gathers.size(); ++i) {
      const Range now = range_of(gathers[i]->units(), step, steps);
      if (!gathers[i]->by_rows_) {
        gathers[i]->tiles_->run(sources, targets[i], stage, now.begin, now.end);
        continue;
      }
      for (std::int64_t row = now.begin; row < now.end; ++row)
        gathers[i]->rows_->run(row, sources, targets[i], stage, prefetch);
    }
  }
  copy::settle();
}

}  // namespace plait::exchange
