/// Where the arrays and groups of a Zarr hierarchy are stored, and where a new array would be (Zarr specification, core
/// 3.0). A hierarchy is a folder, or a prefix of object names, with nested groups and arrays.
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

/// Returns the name of the object with the metadata of an array or group; if there is none, the name that it would have
/// for a new array of version 3.  prefix: the prefix of the names of the array's or group's objects: empty, or with a
/// `/` at the end.
std::string metadata_object(store::ObjectStore& objects, const std::string& prefix);
/// Returns the location of the metadata of an array or group; if there is none, the location that it would have for a
/// new array of `version`.
FolderMetadata find_metadata(const std::filesystem::path& folder, Version version);

/// Reads the whole text of a metadata file.  errors  kSystem: it is too large, or cannot be read.
std::string read_content(store::Store& store);

struct StoredText {
  std::string text;
  store::ObjectIdentity identity;
};
/// Reads the whole text of an object; nothing if it does not exist.  errors  Those of read_content().
std::optional<StoredText> read_text(store::ObjectStore& objects, const std::string& object);
/// Replaces the text of an object by the result of `change`. If another program has changed the text meanwhile,
/// `change` is called again with the new text, so that no change is lost.
/// change: gets the present text, or nothing if the object does not exist; returns the new text, or nothing to leave
/// the object as it is.
/// errors  kSystem; exceptions of `change`.
void change_text(store::ObjectStore& objects, const std::string& object,
                 base::FunctionRef<std::optional<std::string>(const std::optional<std::string>&)> change);

/// Returns a name without leading and trailing slashes.
std::string_view strip_slashes(std::string_view name);

/// Returns the folder of an array or group in a hierarchy.  errors  kArgument: the name has an impossible part.
std::filesystem::path array_folder(std::string_view path, std::optional<std::string_view> array);

/// Calls `visit` for the locations above a location, the nearest first, until it returns false.
void for_each_parent(const std::string& location, base::FunctionRef<bool(const std::string&)> visit);

/// Removes consolidated metadata, which are copies of the metadata of everything in a group, from all groups above an
/// array, because the array's metadata has changed.  location: the location of the array.
/// errors  kSystem.
void remove_parent_copies(const std::string& location);

/// Describes the folder of a new array, as FolderFormat::new_folder() does. Missing groups above the array are created
/// with it. An existing array of that name is replaced; any other object there is an error. Consolidated metadata of
/// the groups above are removed, because they do not include the new array.
/// groups: see new_array().
NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                     const std::map<std::string, std::string>& groups, Version version = Version::k3);

}  // namespace plait::container::zarr
