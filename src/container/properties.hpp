/// Functions that treat every property of arrays alike.
#pragma once

#include <string>

#include "plait/array_description.hpp"

namespace plait::container {

/// Returns what errors call the first property that is given; nullptr if none is.
const char* given_property(const ArrayProperties& array);

/// True if a property other than attributes is given: only formats that store arrays in chunks have these.
bool describes_storage(const ArrayProperties& array);

/// Gives an array the properties that it lacks and that `defaults` has.
void take_defaults(ArrayProperties& array, const ArrayProperties& defaults);

/// Returns the given properties as a call of open() names them, such as `, chunks 8x8, codec zstd:3`.
std::string properties_text(const ArrayProperties& array);

}  // namespace plait::container
