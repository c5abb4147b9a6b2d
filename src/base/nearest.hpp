/// Suggestions for misspelled words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plait::base {

/// Returns the number of insertions, removals and changes of characters that convert one word to the other.
std::size_t distance(std::string_view one, std::string_view other);
/// Returns the word with the smallest distance, if that is at most 2 and less than the length of the word; otherwise
/// an empty text.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);
/// Returns `a, b and c`.
std::string list_text(std::span<const std::string_view> words);

}  // namespace plait::base
