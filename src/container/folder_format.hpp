/// Formats whose arrays are folders.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait::container {

/// A folder that is to appear with a new array in it.
struct NewFolder {
  std::string target;  ///< what appears: the array's folder, or the highest one above it that is not there yet
  std::string file;    ///< in it: what the array's store begins with, as `group/array/zarr.json`
  /// Other files in it, and what they hold.
  std::vector<std::pair<std::string, std::string>> others;
  /// Whether what has the name when it appears may be replaced; empty: whatever it is.
  std::function<bool()> replaces;
  /// Called when it has appeared, to drop copies of metadata that lack it; empty: there are none.
  std::function<void()> on_appearance;
};

/// The file or object that describes an array or a group.
struct FolderMetadata {
  std::string location;
  bool exists = false;
};

/// Operations that only formats of several objects have, such as those of folders.
class FolderFormat {
 public:
  virtual ~FolderFormat() = default;
  /// Returns the metadata of an array or group, or what that of a new one would be; for the path of a folder or the URL of
  /// objects, and the name of an array in it.  A folder that contains this file has this format.
  /// errors  kArgument: a name that cannot be.  kSystem.
  virtual FolderMetadata metadata_of(std::string_view path, std::optional<std::string_view> array) const = 0;
  /// Where a new array goes.  One rank calls it.  groups: texts of their metadata, by names, for those that are made
  /// with it.
  /// errors  kArgument: a name that cannot be, or something in the way that is no such array.  kSystem.
  virtual NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                               const std::map<std::string, std::string>& groups) const = 0;
};

}  // namespace plait::container
