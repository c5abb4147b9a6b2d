// The mapping between readers and ranks.
//
// Nodes have equal numbers of readers as far as their sizes allow: find_level() finds the largest number of readers
// per node (the level) whose total does not exceed the count. The remaining readers go, one each, to the first nodes
// that have more ranks than the level. Within a node, reader k of n is the rank at position k * size / n.
//
// Example: 7 readers on 3 nodes of 4 ranks. The level is 2, as 3 * 3 > 7, and one reader is left for node 0, so the
// nodes have 3, 2 and 2 readers, and first_ = 0, 3, 5, 7. The readers of node 0 are at the positions 0, 4/3 = 1 and 8/3
// = 2: the ranks 0, 1 and 2. Reader 4 is the second one of node 1, at position 1 * 4 / 2 = 2: rank 6. reader_at()
// inverts this: rank 6 is at position 2, the quotient 2 * 2 / 4 is 1, and 1 * 4 / 2 = 2 confirms reader 3 + 1 = 4. Rank
// 5 is at position 1, for which the rounded-up quotient is 1 as well, but 2 is not 1: it is not a reader.

#include "plan/access/readers.hpp"

#include <algorithm>

#include "base/int128.hpp"

namespace plait::plan {

namespace {

/// Returns the largest number of readers per node for which the nodes together have at most `count`.
std::int64_t find_level(const Nodes& nodes, std::int64_t count) {
  const auto readers_at = [&](std::int64_t level) {
    std::int64_t sum = 0;
    for (const IndexSet& node : nodes) sum += std::min(node.size(), level);
    return sum;
  };
  std::int64_t low = 0;
  std::int64_t high = count + 1;
  while (low + 1 < high) {
    const std::int64_t middle = low + (high - low) / 2;
    (readers_at(middle) <= count ? low : high) = middle;
  }
  return low;
}

}  // namespace

Readers::Readers(std::int64_t count, std::int64_t workers, std::shared_ptr<const Nodes> nodes)
    : count_(count), nodes_(std::move(nodes)) {
  if (!nodes_ || nodes_->size() < 2 || count == workers) return;
  const std::int64_t level = find_level(*nodes_, count);
  std::int64_t rest = count;
  for (const IndexSet& node : *nodes_) rest -= std::min(node.size(), level);
  first_.reserve(nodes_->size() + 1);
  first_.push_back(0);
  for (const IndexSet& node : *nodes_) {
    const bool more = rest > 0 && node.size() > level;
    if (more) --rest;
    first_.push_back(first_.back() + std::min(node.size(), level) + (more ? 1 : 0));
  }
}

std::int64_t Readers::rank_at(std::int64_t reader) const {
  if (first_.empty()) return reader;
  const auto after = std::upper_bound(first_.begin(), first_.end(), reader);
  const auto node = static_cast<std::size_t>(after - first_.begin() - 1);
  const IndexSet& ranks = (*nodes_)[node];
  return ranks.at(static_cast<std::int64_t>(base::Int128{reader - first_[node]} * ranks.size() / reader_count(node)));
}

std::size_t Readers::find_node(std::int64_t rank) const {
  const auto after =
      std::upper_bound(nodes_->begin(), nodes_->end(), rank,
                       [](std::int64_t searched, const IndexSet& node) { return searched < node.begin; });
  // The last node that begins before the rank contains it, unless nodes are interleaved.
  for (auto node = after; node != nodes_->begin();)
    if ((--node)->contains(rank)) return static_cast<std::size_t>(node - nodes_->begin());
  return nodes_->size();
}

std::int64_t Readers::reader_at(std::int64_t rank) const {
  if (first_.empty()) return std::min(rank, count_);
  const std::size_t node = find_node(rank);
  if (node == nodes_->size() || reader_count(node) == 0) return count_;
  const IndexSet& ranks = (*nodes_)[node];
  const base::Int128 size = ranks.size();
  const base::Int128 position = ranks.count_below(rank);
  const auto number = static_cast<std::int64_t>((position * reader_count(node) + size - 1) / size);
  return number < reader_count(node) && base::Int128{number} * size / reader_count(node) == position
             ? first_[node] + number
             : count_;
}

std::int64_t Readers::nodes() const {
  if (!nodes_ || nodes_->empty()) return 1;
  if (first_.empty()) return static_cast<std::int64_t>(nodes_->size());
  std::int64_t found = 0;
  for (std::size_t node = 0; node < nodes_->size(); ++node) found += reader_count(node) > 0 ? 1 : 0;
  return found;
}

}  // namespace plait::plan
