// Finds and spells the pattern of one distributed dimension.
//
// Idea: coordinates are replaced by labels 0, 1, ... in the order of their first index. The result is a sequence of
// labels (a word), for which the simplest of five patterns is chosen. Plain distributions are converted by arithmetic;
// others by comparing the runs of owners in one or two periods.
//
// Example: 8 indices on 4 coordinates. `block`, `cyclic(2)`, `balanced` and `gen_block(2, 2, 2, 2)` all become
// UniformBlocks{2, 2, 4}. `cyclic(1)` on 2 coordinates becomes RoundRobin{1, 1}.

#include "layout/normal/normal_dimension.hpp"

#include <algorithm>
#include <numeric>

namespace plait::layout {

namespace {

using Kind = Distribution::Kind;

/// Maximum number of runs of owners that are examined; a dimension with more is irregular.
constexpr std::int64_t kMaxRuns = std::int64_t{1} << 20;

/// Returns the pattern of consecutive blocks of the given sizes, all above 0.
Pattern make_consecutive_pattern(Extents sizes, std::int64_t size, std::int64_t extent) {
  const auto count = static_cast<std::int64_t>(sizes.size());
  const std::int64_t block = count >= 2 ? std::max(sizes[0], sizes[1]) : sizes[0];
  bool is_uniform = true;
  for (std::size_t b = 1; b < sizes.size(); ++b)
    is_uniform = is_uniform && (b + 1 == sizes.size() ? sizes[b] <= block : sizes[b] == block);
  if (is_uniform) return UniformBlocks{sizes[0], block, count};
  bool is_balanced = count == extent;
  for (std::int64_t b = 0; is_balanced && b < count; ++b)
    is_balanced = sizes[static_cast<std::size_t>(b)] == size / extent + (b < size % extent ? 1 : 0);
  if (is_balanced) return BalancedBlocks{};
  return UnequalBlocks{std::move(sizes)};
}

/// Returns the pattern of a plain distribution, by arithmetic.
Pattern find_block_pattern(const BlockOwnerMap& owner_map) {
  const std::int64_t size = owner_map.size();
  const std::int64_t extent = owner_map.extent();
  if (extent == 1) return UniformBlocks{size, size, 1};
  if (owner_map.kind() == Kind::kBlock || owner_map.kind() == Kind::kCyclic) {
    const std::int64_t block = owner_map.block();
    const std::int64_t phase = owner_map.offset() % block;
    const std::int64_t first = std::min(block - phase, size);
    const std::int64_t count = (phase + size - 1) / block + 1;
    if (count > extent) return RoundRobin{first, block};
    if (count == 1) return UniformBlocks{size, size, 1};
    // The longer of two blocks determines the block length. The length from which both were cut is not
    // visible.
    if (count == 2) return UniformBlocks{first, std::max(first, size - first), 2};
    return UniformBlocks{first, block, count};
  }
  if (owner_map.kind() == Kind::kBalanced && owner_map.offset() == 0) {
    const std::int64_t ceiling = (size - 1) / extent + 1;
    if (size <= extent) return UniformBlocks{1, 1, size};
    if (size % extent == 0 || size % extent == extent - 1) return UniformBlocks{ceiling, ceiling, extent};
    // Two blocks are uniform in any case, because the second one may be shorter; so there are at least three blocks
    // here.
    return BalancedBlocks{};
  }
  Extents sizes;
  for (const std::int64_t coordinate : labelled_coordinates(owner_map))
    sizes.push_back(owner_map.set(coordinate).size());
  return make_consecutive_pattern(std::move(sizes), size, extent);
}

/// Returns the runs of owners from index 0 to `end`; nullopt if there are too many.
std::optional<std::vector<OwnerRun>> find_runs_below(const OwnerMap& owner_map, std::int64_t end) {
  std::vector<OwnerRun> runs;
  for (std::int64_t x = 0; x < end;) {
    if (static_cast<std::int64_t>(runs.size()) == kMaxRuns) return std::nullopt;
    const std::int64_t owner = owner_map.owner(x);
    const std::int64_t stop = std::min(owner_map.set(owner).run_end(x), end);
    runs.push_back({owner, stop - x});
    x = stop;
  }
  return runs;
}

/// Returns a common period of all index sets, or the size if there is no shorter period.
std::int64_t find_common_period(const OwnerMap& owner_map) {
  std::int64_t period = 1;
  for (std::int64_t c = 0; c < owner_map.extent(); ++c) {
    const IndexSet set = owner_map.set(c);
    if (set.empty()) continue;
    // The set must contain all of its endless pattern between 0 and the size.
    IndexSet endless = set;
    endless.begin = 0;
    endless.end = owner_map.size();
    if (endless.origin > 0) endless.origin -= (endless.origin / set.stride + 1) * set.stride;
    if (set.contiguous() || endless.size() != set.size()) {
      if (set.size() != owner_map.size()) return owner_map.size();
      continue;
    }
    const std::int64_t factor = set.stride / std::gcd(period, set.stride);
    if (__builtin_mul_overflow(period, factor, &period) || period >= owner_map.size()) return owner_map.size();
  }
  return period;
}

/// Returns the length of the shortest prefix of the word (the labels of all indices, as runs) whose repetition is the
/// word, by the Z function of its runs: for each run, how many runs from there on equal those at the beginning.
std::int64_t find_shortest_period(const std::vector<OwnerRun>& runs, std::int64_t size) {
  const std::size_t count = runs.size();
  std::vector<std::size_t> matches(count, 0);  // number of runs from run k on that equal those from run 1 on
  for (std::size_t k = 2, from = 0, to = 0; k < count; ++k) {
    if (k < to) matches[k] = std::min(to - k, matches[k - from + 1]);
    while (k + matches[k] < count && runs[1 + matches[k]] == runs[k + matches[k]]) ++matches[k];
    if (k + matches[k] > to) from = k, to = k + matches[k];
  }
  std::int64_t end = runs.empty() ? 0 : runs[0].count;
  for (std::size_t j = 1; j < count; ++j) {
    const std::int64_t start = end;
    end += runs[j].count;
    if (runs[j].owner != runs[0].owner) continue;
    if (j + 1 == count) return std::max(start, size - runs[0].count);
    if (runs[j].count < runs[0].count) continue;
    // All runs after this one equal those after the first one, except the last, which may be cut off.
    const std::size_t remaining = count - 1 - j;
    const bool matches_fully = matches[j + 1] >= remaining;
    const bool matches_cut_off = matches[j + 1] + 1 >= remaining && runs[remaining].owner == runs[count - 1].owner &&
                                 runs[remaining].count >= runs[count - 1].count;
    if (matches_fully || matches_cut_off) return end - runs[0].count;
  }
  return size;
}

/// Returns the pattern of any distribution, by comparing runs of owners; nullopt if there are too many.
std::optional<Pattern> find_run_pattern(const OwnerMap& owner_map) {
  const std::int64_t size = owner_map.size();
  std::int64_t period = find_common_period(owner_map);
  // Runs of two periods suffice to see how the period cuts the blocks at its ends.
  const std::int64_t examined_indices = period == 1 || period > size / 2 ? size : 2 * period;
  std::optional<std::vector<OwnerRun>> examined_runs = find_runs_below(owner_map, examined_indices);
  if (!examined_runs) return std::nullopt;
  std::vector<OwnerRun> runs = std::move(*examined_runs);

  std::vector<std::int64_t> label(static_cast<std::size_t>(owner_map.extent()), -1);
  std::int64_t labels = 0;
  for (OwnerRun& run : runs) {
    std::int64_t& run_label = label[static_cast<std::size_t>(run.owner)];
    if (run_label < 0) run_label = labels++;
    run.owner = run_label;
  }
  if (static_cast<std::int64_t>(runs.size()) == labels && examined_indices == size) {
    Extents sizes;
    for (const OwnerRun& run : runs) sizes.push_back(run.count);
    return make_consecutive_pattern(std::move(sizes), size, owner_map.extent());
  }
  if (labels == owner_map.extent() && runs.size() >= 3) {
    const std::int64_t block = runs[1].count;
    bool is_round_robin = runs[0].count <= block && runs.back().count <= block;
    for (std::size_t j = 0; is_round_robin && j < runs.size(); ++j)
      is_round_robin = runs[j].owner == static_cast<std::int64_t>(j) % labels &&
                       (j == 0 || j + 1 == runs.size() || runs[j].count == block);
    if (is_round_robin) return RoundRobin{runs[0].count, block};
  }
  period = find_shortest_period(runs, examined_indices);
  Word word;
  std::int64_t length = 0;
  for (const OwnerRun& run : runs) {
    if (length >= period) break;
    word.runs.push_back({run.owner, std::min(run.count, period - length)});
    length += run.count;
  }
  return word;
}

/// Returns `block(m)`, spelled `block` if m is the default.
Distribution make_block_distribution(const UniformBlocks& blocks, std::int64_t size, std::int64_t extent) {
  const std::int64_t ceiling = (size - 1) / extent + 1;
  return Distribution::blocked(blocks.block == ceiling ? 0 : blocks.block);
}

}  // namespace

std::optional<Pattern> find_pattern(const OwnerMap& owner_map) {
  if (const auto* blocks = dynamic_cast<const BlockOwnerMap*>(&owner_map)) return find_block_pattern(*blocks);
  return find_run_pattern(owner_map);
}

std::vector<std::int64_t> labelled_coordinates(const OwnerMap& owner_map) {
  std::vector<std::pair<std::int64_t, std::int64_t>> first_indices;
  for (std::int64_t c = 0; c < owner_map.extent(); ++c) {
    const IndexSet set = owner_map.set(c);
    if (!set.empty()) first_indices.emplace_back(set.at(0), c);
  }
  std::sort(first_indices.begin(), first_indices.end());
  std::vector<std::int64_t> result;
  for (const auto& [first, coordinate] : first_indices) result.push_back(coordinate);
  return result;
}

Turn find_turn(const BlockOwnerMap& owner_map) {
  const std::int64_t first = owner_map.owner(0);
  const bool single_owner = owner_map.set(first).size() == owner_map.size();
  return {first, owner_map.turn().reverse && owner_map.extent() > 2 && !single_owner};
}

namespace {

/// Returns the turn for which label l is labels[l], if there is one.
std::optional<Turn> find_label_turn(std::span<const std::int64_t> labels, std::int64_t extent, bool reverse) {
  const std::int64_t increment = reverse ? extent - 1 : 1;
  for (std::size_t l = 1; l < labels.size(); ++l)
    if (labels[l] != (labels[l - 1] + increment) % extent) return std::nullopt;
  return Turn{labels[0], reverse};
}

}  // namespace

std::optional<DimensionSpelling> spell_labels(const Pattern& pattern, std::int64_t size, std::int64_t extent,
                                              std::span<const std::int64_t> labels) {
  if (std::holds_alternative<Word>(pattern)) return spell(pattern, size, extent, labels);
  const std::optional<Turn> forward = find_label_turn(labels, extent, /*reverse=*/false);
  const bool ascending = std::is_sorted(labels.begin(), labels.end());
  const bool blocks = std::holds_alternative<UniformBlocks>(pattern) || std::holds_alternative<UnequalBlocks>(pattern);
  const auto* uniform = std::get_if<UniformBlocks>(&pattern);
  const bool has_short_first = uniform != nullptr && uniform->first < uniform->block;
  const bool unequal = std::holds_alternative<UnequalBlocks>(pattern);
  const bool from_first = forward && forward->source == 0 && !unequal && !has_short_first;
  // A shorter first block, and coordinates without a block between others, are expressed by sizes unless there are
  // very many.
  if (ascending && !from_first && blocks && (unequal || extent <= kMaxGaps))
    return spell(pattern, size, extent, labels);
  if (forward) return spell(pattern, size, extent, *forward);
  if (const std::optional<Turn> back = find_label_turn(labels, extent, /*reverse=*/true))
    return spell(pattern, size, extent, *back);
  return std::nullopt;
}

DimensionSpelling spell(const Pattern& pattern, std::int64_t size, std::int64_t extent, Turn turn) {
  DimensionSpelling result;
  result.turn = turn;
  if (const auto* blocks = std::get_if<UniformBlocks>(&pattern)) {
    if (blocks->first < blocks->block) {
      result.distribution = Distribution::blocked(blocks->block);
      result.offset = blocks->block - blocks->first;
    } else {
      result.distribution = make_block_distribution(*blocks, size, extent);
    }
  } else if (std::holds_alternative<BalancedBlocks>(pattern)) {
    result.distribution = Distribution::balanced();
  } else if (const auto* unequal = std::get_if<UnequalBlocks>(&pattern)) {
    Extents sizes = unequal->sizes;
    sizes.resize(static_cast<std::size_t>(extent), 0);
    result.distribution = Distribution::gen_block(std::move(sizes));
  } else if (const auto* round = std::get_if<RoundRobin>(&pattern)) {
    result.distribution = Distribution::cyclic(round->block);
    result.offset = round->block - round->first;
  } else {
    // An indirect map states the coordinates itself, so it needs no turn.
    result.turn = {};
    std::vector<OwnerRun> runs = std::get<Word>(pattern).runs;
    std::int64_t length = 0;
    for (OwnerRun& run : runs) {
      run.owner = turn.reverse ? (turn.source - run.owner + extent) % extent : (turn.source + run.owner) % extent;
      length += run.count;
    }
    result.distribution = Distribution::indirect(std::move(runs), length < size);
  }
  return result;
}

DimensionSpelling spell(const Pattern& pattern, std::int64_t size, std::int64_t extent,
                        std::span<const std::int64_t> labels) {
  DimensionSpelling result;
  const auto at = [&](std::size_t label) { return static_cast<std::size_t>(labels[label]); };
  if (const auto* word = std::get_if<Word>(&pattern)) {
    std::vector<OwnerRun> runs = word->runs;
    std::int64_t length = 0;
    for (OwnerRun& run : runs) {
      run.owner = labels[static_cast<std::size_t>(run.owner)];
      length += run.count;
    }
    result.distribution = Distribution::indirect(std::move(runs), length < size);
    return result;
  }
  Extents sizes(static_cast<std::size_t>(extent), 0);
  if (const auto* unequal = std::get_if<UnequalBlocks>(&pattern)) {
    for (std::size_t label = 0; label < unequal->sizes.size(); ++label) sizes[at(label)] = unequal->sizes[label];
  } else {
    const auto& blocks = std::get<UniformBlocks>(pattern);  // round robin and balanced blocks use every coordinate
    std::int64_t remaining = size;
    for (std::size_t label = 0; label < static_cast<std::size_t>(blocks.count); ++label) {
      sizes[at(label)] = std::min(label == 0 ? blocks.first : blocks.block, remaining);
      remaining -= sizes[at(label)];
    }
  }
  result.distribution = Distribution::gen_block(std::move(sizes));
  return result;
}

}  // namespace plait::layout
