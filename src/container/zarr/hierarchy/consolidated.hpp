/// Consolidated metadata: copies of all metadata of a hierarchy, which its root has in `zarr.json` or `.zmetadata`.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/zarr/json_member.hpp"
#include "store/objects/object_store.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

/// The metadata of a hierarchy, as the consolidated metadata of its root state them.
struct ConsolidatedMetadata {
  /// The texts by the names of their objects in the hierarchy, such as `g/a/zarr.json`; one is that of the root.
  std::map<std::string, std::string> texts;
};

/// Returns the copies in the metadata text of a group of version 3, or in its `.zmetadata`, by the names of the members
/// (version 3) or of the objects (version 2). The result is empty if the text has no copies.
std::optional<std::vector<MemberText>> consolidated_members(std::string_view text, bool second);
/// Returns the metadata text of a group of version 3 without the copies.
std::string without_consolidated(const std::string& text);

/// Returns true if the name of a hierarchy in an object store has the option `consolidated=true`, by which the caller
/// states that its consolidated metadata are up to date.
bool requests_consolidated(const std::string& location);

/// The condition for comparing the metadata that this process has read before with the object on the server.
enum class CopyValidation : std::uint8_t {
  kRecent,  ///< compare them unless they were compared in the last five seconds
  kNow      ///< always compare them
};

/// Returns the consolidated metadata of a hierarchy; nullptr if there is no hierarchy. The process retains those of the
/// last four hierarchies.
/// cost  One request, or three for version 2; one if they are retained and must be compared, otherwise none.
/// errors  kSystem: the hierarchy has no consolidated metadata, or they are damaged.
std::shared_ptr<const ConsolidatedMetadata> read_consolidated(const std::string& location, CopyValidation validation);
/// Discards what read_consolidated() retains, because this process has changed or removed copies.
void discard_consolidated();

/// Opens the metadata of an array or group as the consolidated metadata state them, for reading. The objects next
/// to it, such as chunks, are read from the object store. Returns nullptr if there is no hierarchy.
/// location: that of the hierarchy. name: the array or group in it; empty for the root.
/// errors  kSystem: those of read_consolidated(); the consolidated metadata have no such array or group.
std::unique_ptr<store::Store> open_consolidated(const std::string& location, const std::string& name);

}  // namespace plait::container::zarr
