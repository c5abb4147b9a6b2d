/// Arrays in object stores, by URLs such as `memory://bucket/data.zarr`.
#pragma once

#include <string>
#include <string_view>

#include "container/format.hpp"
#include "driver/file_driver.hpp"

namespace plait::driver::objects {

/// Returns true if a name refers to an object store, known or not: a URL, optionally with a format prefix.
bool is_name(std::string_view name);
/// Returns the driver of such names. Arrays consist of several objects, so their format is a FolderFormat.
const FileDriver& driver();
/// Resolves the name of an array that has, or will have, the given format.  errors  kArgument: the URL is invalid.
ResolvedName locate(const std::string& name, const container::Format& holds);
/// Checks a name without a request to the store. is_new: true if an array is to be created.
/// errors  kArgument: an unknown scheme; no bucket or key; a new array in a format that is one object.
void check_name(const std::string& name, bool is_new);

}  // namespace plait::driver::objects
