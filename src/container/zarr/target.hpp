/// Where the arrays of a hierarchy are, and where a new one goes (Zarr specification, core 3.0).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"
#include "container/format.hpp"
#include "store/objects/object_store.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

/// The object with the metadata of an array or group; if it has none, the one that a new array would have.
/// prefix: of the names of its objects: empty, or with a `/` at the end.
std::string metadata_object(store::ObjectStore& objects, const std::string& prefix);
/// Returns the location of an array or group.
FolderMetadata find_metadata(const std::filesystem::path& folder);

/// The whole text of a file of metadata.  errors  kSystem: too large, or it cannot be read.
std::string content_of(store::Store& store);

struct StoredText {
  std::string text;
  store::ObjectIdentity identity;
};
/// The same of an object; nothing if it does not exist.
std::optional<StoredText> read_text(store::ObjectStore& objects, const std::string& object);
/// Replaces the text of an object by what `change` makes of it, so that no change of another program is lost: it is called
/// again with the text that is there then.  Without a text: the object does not exist, or does not change.
/// errors  kSystem; what `change` throws.
void change_text(store::ObjectStore& objects, const std::string& object,
                 base::FunctionRef<std::optional<std::string>(const std::optional<std::string>&)> change);

/// Without slashes around it.
std::string_view bare(std::string_view name);

/// The folder of an array or group in a hierarchy.  errors  kArgument: a name that cannot be.
std::filesystem::path folder_of(std::string_view path, std::optional<std::string_view> array);

/// Calls `visit` for the locations above one, the next one first, until it returns false.
void for_each_above(const std::string& location, base::FunctionRef<bool(const std::string&)> visit);

/// Drops the metadata of an array that the groups above it have a copy of, since it has changed.
/// location: of the array.  errors  kSystem.
void drop_consolidated_above(const std::string& location);

/// See FolderFormat::new_folder().  Groups above the array that are not there are made; what is there is an array of that name,
/// which is replaced, or in the way.  Metadata that a group keeps of all arrays below it would lack the new one, and
/// goes.
NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                     const std::map<std::string, std::string>& groups);

}  // namespace plait::container::zarr
