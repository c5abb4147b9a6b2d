/// Attributes of arrays and groups, as formats read and write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plait/array_description.hpp"

namespace plait::container {

/// What nobody calls an attribute, and damage may make of one.
inline constexpr std::int64_t kMostAttributeBytes = std::int64_t{1} << 28;

/// The one of that name; null where there is none.
const ArrayAttribute* find_attribute(const ArrayAttributes& attributes, std::string_view name);

/// How many values it has.
std::int64_t count_of(const ArrayAttribute& attribute);

/// An attribute that is one text, or several.
ArrayAttribute text_attribute(std::string name, std::string text);

/// Text of a file that says nothing of its encoding: UTF-8 where it is that, else Latin-1.
std::string utf8_of(std::string_view bytes);

/// errors  kArgument: names that are empty, no UTF-8 or there twice; values that are not as many as the shape says.
void check_attributes(const ArrayAttributes& attributes, const std::string& where);

}  // namespace plait::container
