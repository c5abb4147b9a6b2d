/// Functions that treat all properties of arrays alike.
#pragma once

#include <string>

#include "plait/array_description.hpp"

namespace plait::container {

/// Returns the name of the first stated property, as it appears in error messages; nullptr if none is stated.
const char* find_stated_property(const ArrayProperties& array);

/// Returns true if a property other than attributes is stated. Only formats that store arrays in chunks support these.
bool describes_storage(const ArrayProperties& array);

/// Sets each property that `array` does not state to that of `defaults`.
void take_defaults(ArrayProperties& array, const ArrayProperties& defaults);

/// Returns the stated properties in the notation of open(), such as `, chunks 8x8, codec zstd:3`.
std::string properties_text(const ArrayProperties& array);

}  // namespace plait::container
