// The plan of an access: which reader accesses which window, and which ranks own its elements.
//
// Example: 4 ranks read 1000x1000 doubles of a raw file in `(block, *) onto (4)`. Shares are 250,368 elements, rounded
// up to units of 512, in windows of 131,072. Rank 1 owns the positions [250000, 500000). find_readers() finds its parts
// in the windows number 1: reader 0 has [131072, 250368) with 368 of its elements, and reader 1 has [381440, 500736)
// with 118,560. Reader 2 has no owned position, and none follows, so the search ends there. Readers between two owned
// positions are skipped.

#include "plan/access/access_plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"

namespace plait::plan {

namespace {

/// Returns a sample from the first windows of a few readers, empty if all ranks share one node.
WindowSample sample_windows(const AccessPlan& plan) {
  const AccessTask& task = plan.task();
  const Readers& reader_ranks = plan.reader_ranks();
  WindowSample sample;
  if (!task.nodes_apart || !task.nodes || plan.section().elements == 0) return sample;
  // A sample of all readers would cost more with more ranks.
  std::int64_t last = -1;
  for (const std::int64_t reader : {std::int64_t{0}, plan.readers() / 2, plan.readers() - 1}) {
    if (reader == last) continue;
    last = reader;
    const std::size_t node = reader_ranks.find_node(reader_ranks.rank_at(reader));
    for (const RankPart& part : plan.owners().parts(plan.window(reader, 0))) {
      sample.elements += part.elements;
      if (reader_ranks.find_node(part.rank) != node) sample.on_other_nodes += part.elements;
    }
  }
  return sample;
}

}  // namespace

AccessPlan::AccessPlan(Section section, Layout layout, const AccessTask& task, const AccessOptions& options)
    : owners_(std::move(section), std::move(layout), task.write, options.fill_halo),
      task_(task),
      options_(options),
      staging_(owners_, task, options, /*each_node=*/false),
      neighbours_(array_neighbours(owners_, task)) {
  // Shares and windows are rounded up to storage units, so their numbers must be valid up to two units after the array.
  const std::int64_t common = std::gcd(options.storage_unit, element_bytes());
  base::checked_multiply(
      base::checked_add(owners_.section().elements, 2 * (options.storage_unit / common), "elements of the array"),
      element_bytes(), "bytes of the array");
  if (options.readers < 0 || options.readers > task_.workers)
    base::throw_argument_error("readers=", options.readers, ", but there are ", task_.workers,
                               " ranks or threads; use 1 to ", task_.workers, ", or 0 for the best number");
  divide(options.readers == 0 ? max_readers() : options.readers);
  sample_ = sample_windows(*this);
}

const CostModel& AccessPlan::costs() const {
  static const CostModel built_in{};
  return options_.costs ? *options_.costs : built_in;
}

std::int64_t AccessPlan::max_readers() const {
  return plan::max_readers(section().elements, element_bytes(), task_.workers);
}

std::int64_t AccessPlan::readers_in_each_node() const {
  std::int64_t readers = max_readers();
  for (const IndexSet& node : *task_.nodes) readers = std::min(readers, node.size());
  return std::max<std::int64_t>(readers, 1);
}

Shares AccessPlan::divided(std::int64_t readers) const {
  const Section& whole = section();
  return {whole, readers,
          ShareBounds{.element_bytes = element_bytes(),
                      .data_offset = task_.data_offset,
                      .storage_unit = options_.storage_unit,
                      .max_window = staging_.max_window(),
                      .window_bytes = std::max(preferred_window_bytes(owners_, element_bytes(), neighbours_),
                                               options_.window_bytes),
                      .chunk_window_bytes = std::max(kWindowBytes, options_.window_bytes),
                      .min_windows = task_.threads ? kThreadWindows : 1,
                      .whole_shards = task_.write && !task_.threads && whole.chunks && whole.chunks->in_shards()}};
}

void AccessPlan::divide(std::int64_t readers) {
  shares_ = divided(readers);
  reader_ranks_ = Readers(shares_.readers(), task_.workers, task_.nodes);
}

void AccessPlan::read_in_each_node() {
  each_node_ = true;
  staging_ = Staging(owners_, task_, options_, /*each_node=*/true);
  shares_ = divided(readers_in_each_node());
}

std::int64_t AccessPlan::staging_bytes() const {
  if (strategy_ == Strategy::kDirect || section().elements == 0) return 0;
  return staging_.bytes(window_elements());
}

std::vector<RankPart> AccessPlan::find_readers(const std::vector<RankElements>& holdings, std::int64_t number,
                                               base::FunctionRef<bool(std::int64_t)> wanted) const {
  std::vector<RankPart> result;
  for (std::int64_t reader = 0; reader < readers();) {
    const PositionRange range = window(reader, number);
    std::int64_t position = section().elements;
    for (const RankElements& holding : holdings)
      position = std::min(position, owners_.next_owned(holding.sets, range.begin));
    if (position >= section().elements) break;
    const std::int64_t rank = reader_ranks_.rank_at(reader);
    if (!range.empty() && position < range.end && wanted(rank))
      result.push_back({rank, owners_.elements(holdings, range)});
    // The next reader is the one of the next owned position: readers without an element of the rank are skipped.
    reader = std::max(reader + 1, position < range.end ? reader + 1 : reader_at(position));
  }
  return result;
}

}  // namespace plait::plan
