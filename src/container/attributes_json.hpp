/// Attributes as JSON, in which Zarr keeps them.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "plait/array_description.hpp"

namespace plait::container {

/// What is nested deeper, in lists and objects, is not read, and would be followed by recursion.
inline constexpr std::size_t kMostNesting = 256;

/// Converts JSON of Python's writers to strict JSON: NaN and infinities become strings, as Zarr writes them in fill
/// values.
std::string strict_json(std::string_view text);
/// Like strict_json(), for json_text(): these strings begin with a mark, and the mark of other strings is doubled.
std::string marked_json(std::string_view text);
/// A text as one in a document for json_text().
std::string marked_text(std::string_view text);

/// The members of an object that marked_json() has given.  Numbers become 64-bit ones; what is nested or of several types stays JSON.
ArrayAttributes attributes_of_json(const nlohmann::ordered_json& object);

/// An object with them, for json_text().  errors  kArgument: a type that JSON has not; nested too deep.
nlohmann::ordered_json json_of_attributes(const ArrayAttributes& attributes, const std::string& where);

/// Why JSON cannot have an attribute.
base::Rejection json_rejection(const ArrayAttribute& attribute);

/// The value of an attribute that is one number; NaN and infinities are as fill values of Zarr spell them.
nlohmann::json json_of_number(const ArrayAttribute& attribute);
/// The same of a real number.
double real_of(const ArrayAttribute& attribute);

/// A document with NaN and infinities spelled as Python's writers do, which JSON itself does not have, and without the
/// marks of other texts.
std::string json_text(const nlohmann::ordered_json& value, int indent);

}  // namespace plait::container
