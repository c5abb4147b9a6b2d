/// Attributes as JSON, the form in which Zarr stores them.
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

/// Converts JSON as Python writes it to strict JSON: NaN and infinities become strings, as in fill values of Zarr.
std::string strict_json(std::string_view text);
/// Converts JSON like strict_json(), but so that json_text() can reverse it: the new strings begin with a mark, and
/// other strings that begin with the mark get a second one.
std::string marked_json(std::string_view text);
/// Converts a text to the form that it has in a document for json_text().
std::string marked_text(std::string_view text);

/// Returns the members of an object that marked_json() has written. Numbers become 64-bit numbers; nested values and
/// values of several types stay JSON.
ArrayAttributes json_to_attributes(const nlohmann::ordered_json& object);

/// Makes an object with attributes, for json_text().
/// errors  kArgument: JSON cannot represent a type, or a value is nested too deeply.
nlohmann::ordered_json attributes_to_json(const ArrayAttributes& attributes, const std::string& where);

/// Returns the reason why JSON cannot represent an attribute.
base::Rejection json_rejection(const ArrayAttribute& attribute);

/// Returns the value of an attribute that is one number. NaN and infinities are spelled as in fill values of Zarr.
nlohmann::json number_to_json(const ArrayAttribute& attribute);
/// Returns the value of an attribute that is one real number.
double real_value(const ArrayAttribute& attribute);

/// Returns a document as Python writes it: NaN and infinities, which JSON does not have, are bare words, and the second
/// marks of other strings are removed.
std::string json_text(const nlohmann::ordered_json& value, int indent);

}  // namespace plait::container
