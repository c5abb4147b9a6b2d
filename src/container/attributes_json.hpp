/// Converts attributes to JSON, the form in which Zarr stores them, and back.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "plait/array_description.hpp"

namespace plait::container {

/// Maximum nesting of lists and objects. Functions here are recursive, so that deeper values could overflow the stack.
inline constexpr std::size_t kMaxNesting = 256;

/// Converts JSON as Python writes it, with the bare words NaN and Infinity, to strict JSON, in which they are strings
/// as in fill values of Zarr. Example: `[NaN]` becomes `["NaN"]`.
std::string strict_json(std::string_view text);
/// Converts JSON like strict_json(), but so that json_text() can reverse the conversion: the new strings begin with a
/// mark, the character U+0001, and other strings that begin with this character get a second one.
std::string marked_json(std::string_view text);
/// Converts one text to the form that it has in marked JSON: a text that begins with the mark gets a second one.
std::string marked_text(std::string_view text);

/// Returns the members of an object, parsed from the result of marked_json(), as attributes. Numbers become 64-bit
/// numbers; nested objects and lists of several types become attributes with JSON text.
ArrayAttributes json_to_attributes(const nlohmann::ordered_json& object);

/// Makes a JSON object with the attributes, in marked form, which json_text() writes.
/// errors  kArgument: JSON cannot represent a type, or a value is nested too deeply.
nlohmann::ordered_json attributes_to_json(const ArrayAttributes& attributes, const std::string& where);

/// Returns the reason why JSON cannot represent an attribute; empty if it can.
base::Rejection json_rejection(const ArrayAttribute& attribute);

/// Returns the value of an attribute that is one number. NaN and infinities are spelled as in fill values of Zarr.
nlohmann::json number_to_json(const ArrayAttribute& attribute);
/// Returns the value of an attribute that is one real number.
double real_value(const ArrayAttribute& attribute);

/// Formats a document in marked form as Python writes it: NaN and infinities are bare words, and the second marks of
/// other strings are removed.
std::string json_text(const nlohmann::ordered_json& value, int indent);

}  // namespace plait::container
