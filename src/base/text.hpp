/// Functions that compose texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace plait::base {

void append(std::string& out, std::string_view text);
void append(std::string& out, std::int64_t number);
void append(std::string& out, std::uint64_t number);
/// Appends a number with six digits, like %g of printf.
void append(std::string& out, double number);

template <typename Part>
void append_part(std::string& out, const Part& part) {
  static_assert(!std::is_same_v<Part, signed char> && !std::is_same_v<Part, unsigned char>, "a number or a character?");
  if constexpr (std::is_same_v<Part, char>) {
    out += part;
  } else if constexpr (std::is_signed_v<Part> && std::is_integral_v<Part>) {
    append(out, std::int64_t{part});
  } else if constexpr (std::is_integral_v<Part>) {
    append(out, std::uint64_t{part});
  } else if constexpr (std::is_floating_point_v<Part>) {
    append(out, double{part});
  } else {
    append(out, std::string_view(part));
  }
}

/// Appends the arguments, texts and numbers, one after the other.
/// errors  std::bad_alloc; streams of the standard library would truncate the text instead.
template <typename... Parts>
void append_parts(std::string& out, const Parts&... parts) {
  (append_part(out, parts), ...);
}

/// Returns the arguments as one text.
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  append_parts(out, parts...);
  return out;
}

/// Returns a text with its letters A to Z in lower case.
std::string to_lower(std::string_view text);
/// Pads a text with blanks on the left up to `width` characters.
std::string aligned_right(std::string_view text, std::size_t width);
/// Pads a text with blanks on the right up to `width` characters.
std::string aligned_left(std::string_view text, std::size_t width);
/// Returns all 16 hexadecimal digits.
std::string hexadecimal_text(std::uint64_t number);

/// Returns `(4, 8)`.
std::string tuple_text(std::span<const std::int64_t> values);
/// Returns `1.5 MiB` or `640 B`.
std::string bytes_text(std::int64_t bytes);
/// Returns `3.2 us` or `17 ms` for a number of seconds.
std::string time_text(double seconds);

}  // namespace plait::base
