/// Attributes of arrays and groups, common to all formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plait/array_description.hpp"

namespace plait::container {

/// Maximum size of an attribute in bytes. A larger one means that the file is damaged.
inline constexpr std::int64_t kMaxAttributeBytes = std::int64_t{1} << 28;

/// Returns the attribute of that name; nullptr if there is none.
const ArrayAttribute* find_attribute(const ArrayAttributes& attributes, std::string_view name);

/// Returns the number of values of an attribute, the product of its extents; INT64_MAX if the product is larger.
std::int64_t value_count(const ArrayAttribute& attribute);

/// Makes an attribute with one text.
ArrayAttribute text_attribute(std::string name, std::string text);

/// Converts text of a file that does not state its encoding: it is UTF-8 if it is valid UTF-8, otherwise Latin-1.
std::string to_utf8(std::string_view bytes);

/// Checks attributes that the caller passes.  where: the name of the file or array in errors.
/// errors  kArgument: a name is empty, not UTF-8 or used twice; the number of values differs from the shape.
void check_attributes(const ArrayAttributes& attributes, const std::string& where);

}  // namespace plait::container
