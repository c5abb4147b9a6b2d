/// Suggestions for misspelled words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plait::base {

/// Returns the minimum number of insertions, removals and changes of characters that convert `a` to `b`.
std::size_t distance(std::string_view a, std::string_view b);
/// Returns the known word with the smallest distance from `word`, if that distance is at most 2 and less than the
/// length of `word`; otherwise an empty text.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);
/// Returns `a, b and c`.
std::string list_text(std::span<const std::string_view> words);

}  // namespace plait::base
