/// The encodings of .npy headers: Latin-1 in versions 1 and 2, UTF-8 in version 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plait::container::npy {

bool is_ascii(std::string_view text);
std::string latin1_to_utf8(std::string_view text);
/// Converts a text in UTF-8 to Latin-1; returns nothing if a character is not in Latin-1, or the text is not UTF-8.
std::optional<std::string> utf8_to_latin1(std::string_view text);
/// Removes the first character from a text that is not empty, and returns its code point; returns nothing if the
/// character is not valid UTF-8. An overlong form, a surrogate and a code above 0x10ffff are not valid.
std::optional<std::uint32_t> take_code_point(std::string_view& text);
bool is_utf8(std::string_view text);
/// Appends the character of a code up to 0x10ffff, which may be a surrogate.
void append_utf8(std::string& text, std::uint32_t code);

}  // namespace plait::container::npy
