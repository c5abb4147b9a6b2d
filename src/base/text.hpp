/// Small helpers that put texts together.
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
/// Six digits, as printf's %g has them.
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

/// The arguments, texts and numbers, one behind the other.  errors  std::bad_alloc, instead of a text that is cut, as
/// streams of the standard library would make it.
template <typename... Parts>
void append_parts(std::string& out, const Parts&... parts) {
  (append_part(out, parts), ...);
}

/// The same as a text of its own.
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  append_parts(out, parts...);
  return out;
}

/// With blanks in front of it, up to `width` characters.
std::string aligned_right(std::string_view text, std::size_t width);
/// With blanks behind it.
std::string aligned_left(std::string_view text, std::size_t width);
/// All 16 hexadecimal digits.
std::string hexadecimal_text(std::uint64_t number);

/// `(4, 8)`.
std::string tuple_text(std::span<const std::int64_t> values);
/// `1.5 MiB`, `640 B`.
std::string bytes_text(std::int64_t bytes);
/// `3.2 us`, `17 ms`, of seconds.
std::string time_text(double seconds);

}  // namespace plait::base
