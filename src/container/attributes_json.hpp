/// Attributes as JSON, in which Zarr keeps them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "plait/array_attribute.hpp"

namespace plait::container {

/// Parses what Python's writers give as JSON, with NaN and infinities, which become texts that json_text() knows.
/// errors  nlohmann::json::exception.
std::string strict_json(std::string_view text);

/// The members of an object.  Numbers become 64-bit ones; what is nested or of several types stays JSON.
ArrayAttributes attributes_of_json(const nlohmann::ordered_json& object);

/// An object with them.  errors  kArgument: a type that JSON has not.
nlohmann::ordered_json json_of_attributes(const ArrayAttributes& attributes, const std::string& where);

/// Why JSON cannot have it; empty: it can.
std::string refused_by_json(const ArrayAttribute& attribute);

/// The value of an attribute that is one number; NaN and infinities are as fill values of Zarr spell them.
nlohmann::json json_of_number(const ArrayAttribute& attribute);
/// The same of a real number.
double real_of(const ArrayAttribute& attribute);

/// A document with NaN and infinities spelled as Python's writers do, which JSON itself does not have.
std::string json_text(const nlohmann::ordered_json& value, int indent);

}  // namespace plait::container
