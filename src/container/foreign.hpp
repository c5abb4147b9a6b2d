/// Recognizes files of known formats by their names and first bytes, so that Plait does not read their bytes as raw
/// elements.
#pragma once

#include <string>
#include <string_view>

#include "container/format.hpp"
#include "store/store.hpp"

namespace plait::container {

/// Returns the format for the suffix of a name, such as "HDF5"; empty if the suffix is not known.
std::string_view foreign_by_name(std::string_view path);

/// Returns the format for the first bytes of a file, or an empty text. A short signature may occur by chance, so use it
/// only for errors.
/// errors  kSystem.
std::string_view foreign_by_content(store::Store& store);

/// Checks that the format of an existing file's content fits its name.
/// errors  kArgument: the content matches no format, but the suffix is that of a known format; the name contains that
///         of an array, but the format does not name its arrays.
void check_content(const std::string& name, const Format& found);

/// Returns the format of a whole folder, or an empty text.
std::string_view foreign_folder(const std::string& path);

}  // namespace plait::container
