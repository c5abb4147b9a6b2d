/// Recognizes files of well-known formats by their names and first bytes, including foreign formats, which Plait cannot
/// read. Their bytes must not be taken for raw elements, as those of any file without a known format are.
#pragma once

#include <string>
#include <string_view>

#include "container/format.hpp"
#include "store/store.hpp"

namespace plait::container {

/// Returns the format that the suffix of a name stands for, such as "HDF5"; empty if the suffix is not known.
std::string_view foreign_by_name(std::string_view path);

/// Returns the format whose signature is at the beginning of a file; empty if there is none. A short signature may
/// occur by chance, so use the result only for errors.
/// errors  kSystem.
std::string_view foreign_by_content(store::Store& store);

/// Checks that the format of an existing file's content fits its name.  format: that of the content.
/// errors  kArgument: the content has none of Plait's formats, but the suffix is that of a known format; the name is
///         `FILE::NAME`, but the format has no names for arrays.
void check_content(const std::string& name, const Format& format);

/// Returns the foreign format of a folder, such as "ADIOS"; empty if it is not known.
std::string_view foreign_folder(const std::string& path);

}  // namespace plait::container
