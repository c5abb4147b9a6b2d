/// The location of the arrays of a hierarchy, and of a new one (Zarr specification, core 3.0).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"
#include "container/format.hpp"
#include "container/zarr/new_array.hpp"
#include "store/objects/object_store.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

/// Returns the object with the metadata of an array or group; if there is none, the object that a new array would have.
/// prefix: the prefix of the names of its objects: empty, or with a `/` at the end.
std::string metadata_object(store::ObjectStore& objects, const std::string& prefix);
/// Returns the metadata location of an array or group. A missing one would be a new array of `version`.
FolderMetadata find_metadata(const std::filesystem::path& folder, Version version);

/// Reads the whole text of a metadata file.  errors  kSystem: it is too large, or cannot be read.
std::string read_content(store::Store& store);

struct StoredText {
  std::string text;
  store::ObjectIdentity identity;
};
/// Reads the whole text of an object; nothing if it does not exist.  errors  Those of read_content().
std::optional<StoredText> read_text(store::ObjectStore& objects, const std::string& object);
/// Replaces the text of an object by the result of `change`. If another program has changed it meanwhile, `change` is
/// called again with the new text, so that no change is lost. Without an argument the object does not exist; without a
/// result it does not change.
/// errors  kSystem; exceptions of `change`.
void change_text(store::ObjectStore& objects, const std::string& object,
                 base::FunctionRef<std::optional<std::string>(const std::optional<std::string>&)> change);

/// Removes leading and trailing slashes.
std::string_view bare(std::string_view name);

/// Returns the folder of an array or group in a hierarchy.  errors  kArgument: the name is impossible.
std::filesystem::path array_folder(std::string_view path, std::optional<std::string_view> array);

/// Calls `visit` for the locations above a location, the nearest first, until it returns false.
void for_each_above(const std::string& location, base::FunctionRef<bool(const std::string&)> visit);

/// Removes the copies of an array's metadata in the groups above it, because the metadata has changed.
/// location: the location of the array.  errors  kSystem.
void drop_consolidated_above(const std::string& location);

/// Plans a new array, see FolderFormat::new_folder(). Missing groups above it are created with it. An existing array of
/// that name is replaced; any other object there is an error. Consolidated metadata of the groups above it is removed,
/// because it would lack the new array.
/// groups: see new_array().
NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                     const std::map<std::string, std::string>& groups, Version version = Version::k3);

}  // namespace plait::container::zarr
