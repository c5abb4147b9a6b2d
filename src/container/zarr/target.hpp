/// Where arrays lie in a hierarchy of folders, and where a new one goes (Zarr specification, core 3.0).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "container/format.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

/// The metadata in a folder; of one without any, what would be there.
std::string metadata_file(const std::filesystem::path& folder);

/// The whole text of a file of metadata.  errors  kSystem: too large, or it cannot be read.
std::string content_of(store::Store& store);

/// Without slashes around it.
std::string_view bare(std::string_view name);

/// The folder of an array or group in a hierarchy.  errors  kArgument: a name that cannot be.
std::filesystem::path folder_of(std::string_view path, std::optional<std::string_view> array);

/// Drops what the groups above an array keep of its metadata, which has changed.  errors  kSystem.
void forget_consolidated_above(const std::filesystem::path& folder);

/// See FolderFormat::new_folder().  Groups above the array that are not there are made; what is there is an array of that name,
/// which is replaced, or in the way.  Metadata that a group keeps of all arrays below it would lack the new one, and
/// goes.
NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                     const std::map<std::string, std::string>& groups);

}  // namespace plait::container::zarr
