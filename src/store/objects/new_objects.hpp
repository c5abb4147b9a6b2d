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

struct NewObjectsRequest {
  std::string target;  ///< the location that appears: the array's, or that of the outermost new group around it
  std::string root;    ///< the location of the whole hierarchy: `target`, or above it
  std::string array;   ///< the name of the array in the hierarchy; empty: it is the whole hierarchy
  /// Names and texts of metadata objects, from `target` on, the outermost first and the array's last.  Programs find
  /// what is below `target` by the first one.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// A folder has a temporary name until commit(), and is renamed then.  A store without renames puts the other objects
/// first, and the metadata by commit(), the outermost last and on the condition that no other program has put one.
class NewObjects {
 public:
  /// Removes what was not committed, unless the options retain unfinished arrays.
  virtual ~NewObjects() = default;
  NewObjects(const NewObjects&) = delete;
  NewObjects& operator=(const NewObjects&) = delete;

  /// The present location of `target`; chunks are written below it meanwhile.
  virtual const std::string& location() const = 0;
  /// True if this goes on with what an earlier program has left.
  virtual bool continued() const { return false; }
  /// replaces: called by stores that rename: whether what is at `target` now may go.
  /// errors    kSystem; EEXIST: something that may not go has appeared there.
  virtual void commit(base::FunctionRef<bool()> replaces) = 0;
  virtual void discard() noexcept = 0;

 protected:
  NewObjects() = default;
};

/// options: `claimed`, `keeps_unfinished` and `continues` are used.
/// errors   kSystem: no permission, missing folder.  kArgument: the store does not retain unfinished arrays, or another
///          rank of this job writes the array alone.
std::unique_ptr<NewObjects> make_new_objects(NewObjectsRequest request, const NewFileOptions& options);

}  // namespace plait::store
