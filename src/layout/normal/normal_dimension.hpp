/// What can be told of one distributed dimension without the names of its coordinates, and the spelling of that.
///
/// The *labels* 0, 1, ... number the coordinates that own anything by their first index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "layout/owner_map.hpp"

namespace plait::layout {

/// Consecutive blocks of `block` each, `count` of them, the first one of `first` and the last one cut off.
struct UniformBlocks {
  std::int64_t first = 0;
  std::int64_t block = 0;
  std::int64_t count = 0;
};
/// The first n mod p blocks are one longer.
struct BalancedBlocks {};
/// Consecutive blocks of any sizes above 0.
struct UnequalBlocks {
  Extents sizes;
};
/// Blocks distributed round robin over all coordinates, the first one of `first`.
struct RoundRobin {
  std::int64_t first = 0;
  std::int64_t block = 0;
};
/// Anything else: the label of each index, run by run; the list is repeated to the end.
struct Word {
  std::vector<OwnerRun> runs;
};
using Pattern = std::variant<UniformBlocks, BalancedBlocks, UnequalBlocks, RoundRobin, Word>;

/// The pattern of a distribution of at least one index; nothing where it is irregular and needs more than a million
/// runs.
/// cost  O(1) for the plain distributions, O(coordinates) for gen_block, else O(runs of one period).
std::optional<Pattern> pattern_of(const OwnerMap& owner_map);

/// The coordinate of each label.  cost  O(coordinates).
std::vector<std::int64_t> labelled_coordinates(const OwnerMap& owner_map);
/// Where the labels lie for a plain distribution other than gen_block: label l is coordinate source + l or source - l,
/// modulo their number.
Turn turn_of(const BlockOwnerMap& owner_map);

/// One dimension as a layout says it.
struct DimensionSpelling {
  Distribution distribution;
  Turn turn;
  std::int64_t offset = 0;
};

/// Dimensions of more coordinates are never spelled with gaps where a source and a direction say the same.
inline constexpr std::int64_t kMostGaps = 4096;

/// A pattern of `size` indices whose labels are the coordinates (source + l) or (source - l) modulo `extent`.
DimensionSpelling spell(const Pattern& pattern, std::int64_t size, std::int64_t extent, Turn turn);
/// The same where label l is the coordinate labels[l]: any ones for a word, ascending ones for blocks.
DimensionSpelling spell(const Pattern& pattern, std::int64_t size, std::int64_t extent,
                        std::span<const std::int64_t> labels);
/// The one spelling for these labels; nothing where no source, direction or gaps give blocks such labels.
std::optional<DimensionSpelling> spell_labels(const Pattern& pattern, std::int64_t size, std::int64_t extent,
                                              std::span<const std::int64_t> labels);

}  // namespace plait::layout
