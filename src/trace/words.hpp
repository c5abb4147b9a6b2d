/// The words that text formats use for what the numbers of an event mean, and the escapes of texts on one line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plait/trace.hpp"

namespace plait::trace {

/// "read", "open", ...; a number for a kind that has no name.
std::string_view kind_word(Kind kind);
/// The kind with this name; its number also counts, and so do r, w, R, W, READ and the like.
std::optional<Kind> kind_of(std::string_view word);

/// "posix", "mpi-io", ...; empty for a number that has no name.
std::string_view interface_word(Interface interface);
std::optional<Interface> interface_of(std::string_view word);

/// Words joined by '|', such as "logical|direct"; bits without a name as one hexadecimal number; empty for none.
void append_flags(std::string& text, std::uint16_t flags);
std::optional<std::uint16_t> flags_of(std::string_view words);

/// Appends a text for one line: control characters, '%' and the characters in `also` as %XX.
void append_escaped(std::string& text, std::string_view raw, std::string_view also = {});
/// The inverse; what is no escape stays as it is.
std::string unescaped(std::string_view text);

/// A decimal number with an optional sign that fills the whole text.
std::optional<std::int64_t> number_of(std::string_view text);
std::optional<std::uint64_t> natural_of(std::string_view text, std::uint64_t most = UINT64_MAX);

}  // namespace plait::trace
