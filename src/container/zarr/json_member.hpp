/// Takes one member out of a JSON object and leaves every other byte as it is.
///
/// Parsing and writing anew would round integers beyond 64 bits, refuse the NaN and Infinity that other tools write into
/// attributes, and order or space the rest otherwise.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plait::container::zarr {

/// `object` without its members of this name at the outermost level; nothing where it is no JSON object.
/// `name` is compared with the text between the quotes, so with escapes as they are written.
/// cost  O(size of `object`) a member taken out.
std::optional<std::string> without_member(std::string_view object, std::string_view name);

}  // namespace plait::container::zarr
