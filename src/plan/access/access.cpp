#include "plan/access/access.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/wide.hpp"
#include "plan/conversion/partners.hpp"

namespace plait::plan {

AccessPlan::AccessPlan(Section section, Layout layout, const AccessTask& task, const AccessOptions& options)
    : section_(std::move(section)),
      layout_(std::move(layout)),
      element_bytes_(task.element_bytes),
      data_offset_(task.data_offset),
      workers_(task.workers),
      nodes_apart_(task.nodes_apart),
      write_(task.write),
      threads_(task.threads),
      strides_(task.strides),
      options_(options),
      model_(options.costs ? *options.costs : CostModel{}) {
  section_.check_layout(layout_);
  // With room for shares and windows that are rounded up to storage units.
  const std::int64_t common = std::gcd(options.storage_unit, element_bytes_);
  base::checked_multiply(
      base::checked_add(section_.elements, 2 * (options.storage_unit / common), "elements of the array"),
      element_bytes_, "bytes of the array");
  if (options.readers < 0 || options.readers > workers_)
    base::throw_argument_error("readers=", options.readers, ", but there are ", workers_,
                               " ranks or threads; use 1 to ", workers_, ", or 0 for the best number");
  whole_shards_ = write_ && !task.threads && section_.chunks && section_.chunks->in_shards();
  const std::int64_t memory = memory_bytes();
  choose_shares(data_offset_, options.readers);
  choose_window(memory);
  if (options.readers == 0 && writes_queue() && best_writers() < readers_) {
    choose_shares(data_offset_, best_writers());
    choose_window(memory);
  }
  nodes_ = task.nodes;
  spread_ = Readers(readers_, workers_, nodes_);
  exchange_seconds_ = exchange_seconds();
  strategy_ = options.strategy;
  if (options.each_node && may_read_in_each_node()) read_in_each_node();
  if (section_.chunks) {
    if (strategy_ == Strategy::kDirect)
      base::throw_argument_error(
          "strategy \"direct\" was asked for, but the array lies in chunks, each of which one rank reads or writes "
          "as a whole; use \"two-phase\" or \"automatic\"");
    strategy_ = Strategy::kTwoPhase;
  }
  if (strategy_ == Strategy::kAutomatic && (reads_once() || reads_from_disk())) strategy_ = Strategy::kTwoPhase;
  if (strategy_ == Strategy::kAutomatic)
    strategy_ = predicted_seconds(Strategy::kDirect) <= predicted_seconds(Strategy::kTwoPhase) ? Strategy::kDirect
                                                                                               : Strategy::kTwoPhase;
  if (options.strategy == Strategy::kAutomatic && is_open() && may_read_in_each_node() &&
      predicted_seconds_in_each_node() <
          (strategy_ == Strategy::kDirect ? direct_seconds() : predicted_seconds(strategy_))) {
    strategy_ = Strategy::kTwoPhase;
    read_in_each_node();
  }
}

bool AccessPlan::may_read_in_each_node() const {
  return nodes_apart_ && !write_ && nodes_ && options_.readers == 0 && !section_.chunks;
}

/// As many as the smallest node has ranks, so that all nodes have the same shares and windows.
std::int64_t AccessPlan::readers_of_each_node() const {
  std::int64_t least = most_readers();
  for (const IndexSet& node : *nodes_) least = std::min(least, node.size());
  return std::max<std::int64_t>(least, 1);
}

void AccessPlan::read_in_each_node() {
  each_node_ = true;
  choose_shares(data_offset_, readers_of_each_node());
  choose_window(memory_bytes());
}

/// Copies are read once and spread by the exchange, whatever the page cache would make of reading them again.
bool AccessPlan::reads_once() const { return !write_ && workers_ > 1 && layout_.replicas() > 1; }

bool AccessPlan::reads_from_disk() const {
  return options_.cold && !write_ && section_.elements >= kLeastFromDisk / element_bytes_;
}

std::int64_t AccessPlan::most_positions() const {
  std::int64_t most = 1;
  if (options_.fill_halo && !write_)
    for (int d = 0; d < layout_.dimensions(); ++d)
      if (layout_.periodic(d) && layout_.halo(d) != Halo{}) most *= 3;
  return most;
}

int AccessPlan::message_buffers() const {
  return nodes_apart_ && !each_node_ ? static_cast<int>(2 * in_flight() * most_positions()) : 0;
}

int AccessPlan::buffers() const {
  const bool sieves = !write_ && !section_.contiguous() && section_.contiguous_elements() * element_bytes_ < kSieveGap;
  return kSlots + message_buffers() + (sieves ? 1 : 0);
}

std::int64_t AccessPlan::sieve_bytes() const {
  const bool sieves = buffers() > kSlots + message_buffers();
  return sieves ? std::min(window_ * element_bytes_, std::max(kSieveBytes, element_bytes_)) : 0;
}

std::int64_t AccessPlan::staging_bytes() const {
  if (strategy_ == Strategy::kDirect || section_.elements == 0) return 0;
  return (kSlots + message_buffers()) * window_ * element_bytes_ + sieve_bytes();
}

std::vector<Holding> AccessPlan::holdings(std::int64_t rank) const {
  if (!layout_.has_rank(rank) || (write_ && layout_.replica_of(rank) != 0)) return {};
  std::vector<Holding> result;
  for (const Holding& held : plan::holdings(layout_, rank, options_.fill_halo && !write_)) {
    Holding& own = result.emplace_back();
    for (const int d : section_.layout_dimension) {
      own.sets.push_back(d < 0 ? IndexSet::range(0, 1) : held.sets[static_cast<std::size_t>(d)]);
      own.positions.push_back(d < 0 ? 0 : held.positions[static_cast<std::size_t>(d)]);
    }
  }
  return result;
}

Extents AccessPlan::local_strides(const Extents& layout_strides) const {
  Extents result;
  for (const int d : section_.layout_dimension)
    result.push_back(d < 0 ? 0 : layout_strides[static_cast<std::size_t>(d)]);
  return result;
}

std::int64_t AccessPlan::elements(const std::vector<Holding>& own, Range range) const {
  std::int64_t sum = 0;
  const std::vector<Box> boxes = section_.boxes(range.begin, range.end);
  for (const Holding& one : own)
    for (const Box& box : boxes) {
      std::int64_t product = 1;
      for (std::size_t d = 0; d < one.sets.size(); ++d) product *= one.sets[d].clip(box.lo[d], box.hi[d]).size();
      sum += product;
    }
  return sum;
}

std::vector<AccessPlan::Shares> AccessPlan::coordinates_in(const Box& box) const {
  const bool fill = options_.fill_halo && !write_;
  std::vector<Shares> result(section_.layout_shape.size());
  for (std::size_t d = 0; d < section_.shape.size(); ++d) {
    const int dimension = section_.layout_dimension[d];
    if (dimension < 0) continue;
    const IndexSet range = IndexSet::range(box.lo[d], box.hi[d]);
    for (const std::int64_t coordinate : coordinates_meeting(range, layout_, dimension, fill)) {
      std::int64_t found = 0;
      for (const Span& span : spans(layout_, dimension, coordinate, fill))
        found += span.set.clip(range.begin, range.end).size();
      if (found > 0) result[static_cast<std::size_t>(dimension)].emplace_back(coordinate, found);
    }
  }
  return result;
}

std::vector<RankPart> AccessPlan::parts(Range range) const {
  std::vector<RankPart> result;
  const std::int64_t replicas = write_ ? 1 : layout_.replicas();
  for (const Box& box : section_.boxes(range.begin, range.end)) {
    const std::vector<Shares> coordinates = coordinates_in(box);
    std::size_t total = 1;
    for (const Shares& found : coordinates) total *= found.size();
    std::vector<std::size_t> chosen(coordinates.size(), 0);
    Extents position(coordinates.size());
    for (std::size_t n = 0; n < total; ++n) {
      std::int64_t elements = 1;
      for (std::size_t d = 0; d < coordinates.size(); ++d) {
        position[d] = coordinates[d][chosen[d]].first;
        elements *= coordinates[d][chosen[d]].second;
      }
      for (std::int64_t replica = 0; replica < replicas; ++replica)
        result.push_back({layout_.rank_at(position, replica), elements});
      for (std::size_t d = coordinates.size(); d-- > 0;) {
        if (++chosen[d] < coordinates[d].size()) break;
        chosen[d] = 0;
      }
    }
  }
  std::ranges::sort(result, {}, &RankPart::rank);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (kept > 0 && result[kept - 1].rank == result[i].rank) {
      result[kept - 1].elements += result[i].elements;
    } else {
      result[kept++] = result[i];
    }
  }
  result.resize(kept);
  return result;
}

std::vector<RankPart> AccessPlan::readers_of(const std::vector<Holding>& own, std::int64_t number,
                                             base::FunctionRef<bool(std::int64_t)> wanted) const {
  std::vector<RankPart> result;
  for (std::int64_t reader = 0; reader < readers_;) {
    const Range range = window(reader, number);
    std::int64_t position = section_.elements;
    for (const Holding& one : own) position = std::min(position, next_owned(one.sets, range.begin));
    if (position >= section_.elements) break;
    const std::int64_t rank = rank_of_reader(reader);
    if (!range.empty() && position < range.end && wanted(rank)) result.push_back({rank, elements(own, range)});
    reader = std::max(reader + 1, position < range.end ? reader + 1 : reader_of(position));
  }
  return result;
}

}  // namespace plait::plan
