/// The objects of a new array, or of a hierarchy around it, which other programs find all at once or not at all.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "store/new_file.hpp"
#include "store/objects/object_store.hpp"

namespace plait::store {

/// Name of an object that shows that an array in a store without renames is unfinished, and that a program which
/// continues it may use its objects.
inline constexpr const char* kUnfinishedMark = ".plait-unfinished";

struct NewObjectsRequest {
  std::string target;  ///< location that appears: that of the array, or of the outermost new group around it
  std::string root;    ///< location of the whole hierarchy: `target`, or above it
  std::string array;   ///< name of the array in the hierarchy; empty if it is the whole hierarchy
  /// Names and texts of metadata objects, relative to `target`, the outermost first and the array's last. Programs find
  /// everything below `target` through the first one.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// New objects under construction. A folder has a temporary name, and commit() renames it. In a store without renames
/// the other objects are put first; commit() puts the metadata, the outermost last, under the condition that no other
/// program has put it.
class NewObjects {
 public:
  /// Removes uncommitted objects, unless the options retain unfinished arrays.
  virtual ~NewObjects() = default;
  NewObjects(const NewObjects&) = delete;
  NewObjects& operator=(const NewObjects&) = delete;

  /// Returns the present location of `target`; chunks are written below it until commit().
  virtual const std::string& location() const = 0;
  /// Returns true if this continues an unfinished array of an earlier program.
  virtual bool continued() const { return false; }
  /// Makes the objects appear.
  /// replaces: called by stores that rename; returns true if the present object at `target` may be replaced.
  /// errors  kSystem; EEXIST: an object that must not be replaced has appeared there.
  virtual void commit(base::FunctionRef<bool()> replaces) = 0;
  virtual void discard() noexcept = 0;

 protected:
  NewObjects() = default;
};

/// Begins new objects. Of the options it uses `claimed`, `keeps_unfinished` and `continues`.
/// errors  kSystem: no permission, or a missing folder. kArgument: the store does not retain unfinished arrays, or
///         another rank of this job writes the array alone.
std::unique_ptr<NewObjects> make_new_objects(NewObjectsRequest request, const NewFileOptions& options);

}  // namespace plait::store
