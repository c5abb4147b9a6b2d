/// Files of formats that Plait does not read: recognized by their names and first bytes, so that no caller takes their
/// bytes for elements.
#pragma once

#include <string>
#include <string_view>

#include "container/format.hpp"
#include "store/store.hpp"

namespace plait::container {

/// The format that a name's last part ends with, such as "HDF5"; empty where it is none of those.
std::string_view foreign_by_name(std::string_view path);

/// The format that a file begins with, or empty.  Short signatures may stand there by chance: only for errors.
/// errors  kSystem.
std::string_view foreign_by_content(store::Store& store);

/// Checks that the format of an existing file's content suits its name.
/// errors  kArgument: the content matches no format, but the name ends like those of a known format; the name contains
///         that of an array, but the format does not name its arrays.
void check_content(const std::string& name, const Format& found);

/// What a folder holds as a whole, or empty.
std::string_view foreign_folder(const std::string& path);

}  // namespace plait::container
