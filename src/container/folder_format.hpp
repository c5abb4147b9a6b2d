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

/// A folder with a new array. It gets its name, and thus becomes visible, when it is complete.
struct NewFolder {
  std::string target;  ///< the folder that becomes visible: that of the array, or the highest missing one above it
  std::string file;    ///< file in it with which the store of the array begins, such as `group/array/zarr.json`
  /// Names and contents of other files in it.
  std::vector<std::pair<std::string, std::string>> others;
  /// Returns true if a file or folder that has the name at that time may be replaced. If empty, any may be replaced.
  std::function<bool()> replaces;
  /// Called after the folder has become visible, to remove copies of metadata that lack it; may be empty.
  std::function<void()> on_appearance;
};

/// The file or object that describes an array or a group.
struct FolderMetadata {
  std::string location;
  bool exists = false;
};

/// Operations that only formats of folders or of several objects have. Formats with the same suffix must recognize the
/// same folders.
class FolderFormat {
 public:
  virtual ~FolderFormat() = default;
  /// Returns the metadata of an array or group, or that of a new one. The arguments are the path of a folder or the URL
  /// of objects, and the name of an array in it. A folder that contains this file has this format.
  /// errors  kArgument: a name is impossible.  kSystem.
  virtual FolderMetadata locate_metadata(std::string_view path, std::optional<std::string_view> array) const = 0;
  /// Returns the folder of a new array. One rank calls it. groups: metadata texts of the groups that are made with it,
  /// by their names.
  /// errors  kArgument: a name is impossible, or is that of an existing object which is not such an array.  kSystem.
  virtual NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                               const std::map<std::string, std::string>& groups) const = 0;
};

}  // namespace plait::container
