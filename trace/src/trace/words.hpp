/// The words of text formats for the numbers in an event, and escape sequences for texts within one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plait/trace.hpp"

namespace plait::trace {

/// Numbers of kinds and interfaces.
inline constexpr std::size_t kKinds = PLAIT_TRACE_KIND_COUNT;
inline constexpr std::size_t kInterfaces = PLAIT_TRACE_INTERFACE_COUNT;

/// All words in the order of their numbers.
std::span<const std::string_view> kind_names();
std::span<const std::string_view> interface_names();

/// Returns "read", "open", ...
/// errors  kArgument: an unknown kind.
std::string_view kind_word(Kind kind);
/// Returns the kind with this name, in upper or lower case; r and w are accepted too.
std::optional<Kind> parse_kind(std::string_view word);

/// Returns "posix", "mpi-io", ...
/// errors  kArgument: an unknown interface.
std::string_view interface_word(Interface interface);
std::optional<Interface> parse_interface(std::string_view word);

/// Appends flags as words joined by '|', such as "logical|direct". Bits without a name become one hexadecimal number.
/// No flags append nothing.
void append_flags(std::string& text, std::uint16_t flags);
std::optional<std::uint16_t> parse_flags(std::string_view words);

/// Returns a number and the words that agree with it, which begin with a noun: "1 line was", "2 lines were".
std::string count_text(std::int64_t count, std::string_view singular, std::string_view plural);

/// Appends a text for one line: control characters, '%' and the characters in `also` become %XX.
void append_escaped(std::string& text, std::string_view raw, std::string_view also = {});
/// Decodes escape sequences; other text is unchanged.
std::string unescaped(std::string_view text);

/// Parses a decimal number with an optional sign that is the whole text.
std::optional<std::int64_t> to_number(std::string_view text);
/// Parses a decimal number without a sign that is the whole text and at most `maximum`.
std::optional<std::uint64_t> to_natural(std::string_view text, std::uint64_t maximum = UINT64_MAX);

}  // namespace plait::trace
