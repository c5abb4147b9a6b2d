/// What someone may have meant who misspelled a word.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plait::base {

/// Insertions, removals and changes of characters that make one word of the other.
std::size_t distance(std::string_view one, std::string_view other);
/// Of several words the nearest that is at most 2 changes and less than the whole word away; none: empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);
/// `a, b and c`.
std::string list_text(std::span<const std::string_view> words);

}  // namespace plait::base
