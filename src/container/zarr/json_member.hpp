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

/// Returns `object` without its members of this name at the outermost level; nothing if it is not a JSON object. Names
/// are compared as parsers read them, regardless of escapes.
/// cost  Proportional to the size of `object` for each member removed.
/// Example: without "b", {"a": 1, "b": 2} becomes {"a": 1}; without "a", it becomes {"b": 2}.
std::optional<std::string> without_member(std::string_view object, std::string_view name);

/// Returns the value of the last member of that name, which is the one that parsers use, as it is written and without
/// surrounding spaces. The result is empty if there is none, or `object` is not a JSON object.
std::string member_text(std::string_view object, std::string_view name);

/// A member of a JSON object: its name, without escapes, and the text of its value.
struct MemberText {
  std::string name;
  std::string value;
};

/// Returns all members in their order; nothing if `object` is not a JSON object.
std::optional<std::vector<MemberText>> member_texts(std::string_view object);

/// Returns `object` with one member of that name, whose value has the text `value`. It replaces the last member of that
/// name, or follows the others. The result is empty if `object` is not a JSON object.
std::optional<std::string> with_member(std::string_view object, std::string_view name, std::string_view value);

}  // namespace plait::container::zarr
