/// Removes or replaces one member of a JSON object without changing any other byte.
///
/// Parsing and writing the whole object would round integers beyond 64 bits, reject the NaN and Infinity that other
/// tools write into attributes, and change the order and the spaces of the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plait::container::zarr {

/// Returns `object` without its members of this name at the outermost level; nothing if the text is not a JSON object.
/// Names are compared as parsers read them, regardless of escapes.
/// cost  Proportional to the size of `object` for each member removed.
/// Example: without "b", {"a": 1, "b": 2} becomes {"a": 1}; without "a", it becomes {"b": 2}.
std::optional<std::string> remove_member(std::string_view object, std::string_view name);

/// Returns the text of the value of the last member of that name, without surrounding spaces. Parsers use the last one
/// too. The result is empty if there is none, or `object` is not a JSON object.
std::string find_member_text(std::string_view object, std::string_view name);

/// A member of a JSON object: its name, without escapes, and the text of its value.
struct MemberText {
  std::string name;
  std::string value;
};

/// Returns all members in their order; nothing if `object` is not a JSON object.
std::optional<std::vector<MemberText>> list_members(std::string_view object);

/// Returns `object` with a member of that name and the text `value` as its value. This member replaces the last one of
/// that name; if there is none, it is added at the end. Returns nothing if `object` is not a JSON object.
std::optional<std::string> set_member(std::string_view object, std::string_view name, std::string_view value);

}  // namespace plait::container::zarr
