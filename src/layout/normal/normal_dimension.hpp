/// The pattern of one distributed dimension without the names of its coordinates, and its spelling.
///
/// The *labels* 0, 1, ... number the coordinates that own an index, in the order of their first index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "layout/owner_map.hpp"

namespace plait::layout {

/// `count` consecutive blocks of `block` indices. The first one has `first` indices, and the last one is cut off.
struct UniformBlocks {
  std::int64_t first = 0;
  std::int64_t block = 0;
  std::int64_t count = 0;
};
/// Consecutive blocks, of which the first n mod p are one longer.
struct BalancedBlocks {};
/// Consecutive blocks of any sizes above 0.
struct UnequalBlocks {
  Extents sizes;
};
/// Blocks distributed round robin over all coordinates. The first one has `first` indices.
struct RoundRobin {
  std::int64_t first = 0;
  std::int64_t block = 0;
};
/// Any other pattern: the labels of the indices of one period, as runs. The period is repeated to the end.
struct Word {
  std::vector<OwnerRun> runs;
};
using Pattern = std::variant<UniformBlocks, BalancedBlocks, UnequalBlocks, RoundRobin, Word>;

/// Returns the pattern of a distribution of at least one index; nullopt if it is irregular and needs more than a
/// million runs.
/// cost  O(1) for the plain distributions, O(coordinates) for gen_block, otherwise O(runs of one period).
std::optional<Pattern> find_pattern(const OwnerMap& owner_map);

/// Returns the coordinate of each label.
/// cost  O(coordinates).
std::vector<std::int64_t> labelled_coordinates(const OwnerMap& owner_map);
/// Returns the turn of a plain distribution other than gen_block: label l is coordinate source + l or source - l,
/// modulo their number.
Turn find_turn(const BlockOwnerMap& owner_map);

/// The parts of a layout's spelling that describe one dimension.
struct DimensionSpelling {
  Distribution distribution;
  Turn turn;
  std::int64_t offset = 0;
};

/// Maximum number of coordinates for which blocks are spelled by sizes, with 0 for coordinates without indices,
/// although a source and a direction would be equivalent.
inline constexpr std::int64_t kMaxGaps = 4096;

/// Spells a pattern of `size` indices whose labels are the coordinates (source + l) or (source - l) modulo `extent`.
DimensionSpelling spell(const Pattern& pattern, std::int64_t size, std::int64_t extent, Turn turn);
/// Spells a pattern whose label l is the coordinate labels[l]: any coordinates for a word, ascending ones for blocks.
DimensionSpelling spell(const Pattern& pattern, std::int64_t size, std::int64_t extent,
                        std::span<const std::int64_t> labels);
/// Returns the canonical spelling for these labels; nullopt if blocks cannot get them by any source, direction or gaps.
std::optional<DimensionSpelling> spell_labels(const Pattern& pattern, std::int64_t size, std::int64_t extent,
                                              std::span<const std::int64_t> labels);

}  // namespace plait::layout
