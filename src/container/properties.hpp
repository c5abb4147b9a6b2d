/// Functions that treat all properties of arrays alike.
#pragma once

#include <string>

#include "plait/array_description.hpp"

namespace plait::container {

/// Returns the name of the first stated property, as errors have it; nullptr if none is stated.
const char* given_property(const ArrayProperties& array);

/// Returns true if a property other than attributes is stated; only formats that store arrays in chunks have these.
bool describes_storage(const ArrayProperties& array);

/// Sets the properties that an array lacks and `defaults` has.
void take_defaults(ArrayProperties& array, const ArrayProperties& defaults);

/// Returns the stated properties in the notation of open(), such as `, chunks 8x8, codec zstd:3`.
std::string properties_text(const ArrayProperties& array);

}  // namespace plait::container
