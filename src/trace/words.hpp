/// The words that text formats use for what the numbers of an event mean, and the escapes of texts on one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plait/trace.hpp"

namespace plait::trace {

/// How many there are.
inline constexpr std::size_t kKinds = PLAIT_TRACE_KIND_COUNT;
inline constexpr std::size_t kInterfaces = PLAIT_TRACE_INTERFACE_COUNT;

/// All, in the order of their numbers.
std::span<const std::string_view> kind_words();
std::span<const std::string_view> interface_words();

/// "read", "open", ...  errors  kArgument: no such kind.
std::string_view kind_word(Kind kind);
/// The kind with this name, in letters of any size; r and w also count.
std::optional<Kind> kind_of(std::string_view word);

/// "posix", "mpi-io", ...  errors  kArgument: no such interface.
std::string_view interface_word(Interface interface);
std::optional<Interface> interface_of(std::string_view word);

/// Words joined by '|', such as "logical|direct"; bits without a name as one hexadecimal number; empty for none.
void append_flags(std::string& text, std::uint16_t flags);
std::optional<std::uint16_t> flags_of(std::string_view words);

/// A number and the words that agree with it, which begin with a noun: "1 line was", "2 lines were".
std::string count_text(std::int64_t count, std::string_view singular, std::string_view plural);

/// Appends a text for one line: control characters, '%' and the characters in `also` as %XX.
void append_escaped(std::string& text, std::string_view raw, std::string_view also = {});
/// The inverse; what is no escape stays as it is.
std::string unescaped(std::string_view text);

/// A decimal number with an optional sign that fills the whole text.
std::optional<std::int64_t> number_of(std::string_view text);
std::optional<std::uint64_t> natural_of(std::string_view text, std::uint64_t most = UINT64_MAX);

}  // namespace plait::trace
