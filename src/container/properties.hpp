/// Functions on all properties of an array, such as chunks, codec and attributes, without naming each.
#pragma once

#include <string>

#include "plait/array_description.hpp"

namespace plait::container {

/// Returns the name of the first stated property, as it appears in error messages; nullptr if none is stated.
const char* find_stated_property(const ArrayProperties& array);

/// Returns true if a property other than attributes is stated. Only formats that store arrays in chunks support these.
bool describes_storage(const ArrayProperties& array);

/// Sets each property that `array` does not state to that of `defaults`.
void apply_defaults(ArrayProperties& array, const ArrayProperties& defaults);

/// Lists the stated properties by the names of open()'s options, such as `, chunks 8x8, codec zstd:3`, so that ranks
/// can compare their calls.
std::string properties_text(const ArrayProperties& array);

}  // namespace plait::container
