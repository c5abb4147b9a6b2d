/// The operations of formats whose arrays are folders of many files, such as Zarr.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace plait::container {

/// A folder with a new array. It is written under a temporary name, and gets its own name, by which it becomes visible,
/// when it is complete.
struct NewFolder {
  std::string target;  ///< the folder that becomes visible: that of the array, or the highest missing one above it
  std::string file;    ///< file in `target` with the metadata of the array, such as `group/array/zarr.json`
  /// Names in `target` and contents of other files.
  std::vector<std::pair<std::string, std::string>> other_files;
  /// Called when the folder gets its name: returns true if a file or folder that has this name may be replaced. If the
  /// function is empty, any may be replaced.
  std::function<bool()> replaces;
  /// Called after the folder has become visible, to remove copies of metadata that do not include it; may be empty.
  std::function<void()> on_appearance;
};

/// The file or object that describes an array or a group.
struct FolderMetadata {
  std::string location;
  bool exists = false;
  std::unique_ptr<store::Store> copy{};  ///< the copy of the metadata that is to be read; nullptr: there is none
};

/// kAllowed: copies of the metadata may be read if the name requests that. Writers read the metadata themselves.
enum class MetadataCopies : bool { kIgnored, kAllowed };

/// Operations of formats that store an array in a folder, or in several objects of an object store. Formats with the
/// same suffix must recognize the same folders.
class FolderFormat {
 public:
  virtual ~FolderFormat() = default;
  /// Returns the location of the metadata of an existing array or group; if there is none, the location that the
  /// metadata of a new array would have. A folder with such a file has this format.
  /// path: a folder, or the URL of objects. array: the name of an array or group in it; nothing for `path` itself.
  /// errors  kArgument: a name is impossible.  kSystem; with kAllowed also that requested copies do not exist.
  virtual FolderMetadata locate_metadata(std::string_view path, std::optional<std::string_view> array,
                                         MetadataCopies copies) const = 0;
  /// Describes the folder of a new array. One rank calls this function. groups: metadata texts of groups, by their
  /// names, for groups that are created together with the array.
  /// errors  kArgument: a name is impossible, or is that of an existing object which is not such an array.  kSystem.
  virtual NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                               const std::map<std::string, std::string>& groups) const = 0;
};

}  // namespace plait::container
