/// Takes one member out of a JSON object, or gives it another value, and leaves every other byte as it is.
///
/// Parsing and writing anew would round integers beyond 64 bits, refuse the NaN and Infinity that other tools write into
/// attributes, and order or space the rest otherwise.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plait::container::zarr {

/// `object` without its members of this name at the outermost level; nothing where it is no JSON object.
/// Names are compared as parsers read them, whatever escapes spell them.
/// cost  O(size of `object`) a member taken out.
std::optional<std::string> without_member(std::string_view object, std::string_view name);

/// The value of the last member of that name, the one that parsers take, as it is written, without spaces around it;
/// empty: there is none, or this is no JSON object.
std::string member_text(std::string_view object, std::string_view name);

/// `object` with one member of that name, whose value is spelled `value`: where the last one was, or behind the others.
/// Nothing where it is no JSON object.
std::optional<std::string> with_member(std::string_view object, std::string_view name, std::string_view value);

}  // namespace plait::container::zarr
