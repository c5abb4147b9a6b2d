/// Resolution of names, and lists of the arrays and groups in files, for names of every driver.
#pragma once

#include <string>
#include <vector>

#include "container/format.hpp"
#include "driver/resolved_name.hpp"

namespace plait::driver {

/// Resolves a name without opening the store, which need not exist; a damaged store has no components. If the bytes of
/// an ordinary file describe a store, the name is resolved to that store. Not collective.
/// errors  kArgument: the name is invalid.
/// cost  Opens the file or the text under the name, or lists its folder.
ResolvedName locate(const std::string& name);
/// Resolves the name of a file to be created, regardless of an existing file of that name.  errors  Those of locate().
ResolvedName locate_new(const std::string& name);

/// How arrays_in() determines the bytes of an array. kAsStated: as far as the file states them. kCounted: for arrays
/// that consist of many objects it also adds up the sizes of the objects, which needs a list of them.
enum class Sizes : bool { kAsStated, kCounted };

/// Returns the named arrays of an ordinary file, in its order; empty if its arrays have no names. Not collective.
/// errors  kArgument: the name is invalid. kSystem: the file does not exist, is not permitted, or is damaged.
std::vector<container::Member> arrays_in(const std::string& name, Sizes sizes = Sizes::kAsStated);

/// Removes unfinished new files of that name that earlier programs have left behind (FileOptions::keeps_unfinished).
/// Not collective.
/// errors  kArgument: the name is invalid. kSystem: EBUSY, another program is writing it.
void remove_unfinished(const std::string& name);
/// Returns the groups of an ordinary file with their attributes, the root group first; empty for formats without
/// groups.
/// errors  Those of arrays_in().
std::vector<GroupAttributes> groups_in(const std::string& name);

/// The arrays and groups of a file, as arrays_in() and groups_in() return them.
struct FileListing {
  std::vector<container::Member> arrays;
  std::vector<GroupAttributes> groups;
};
/// Returns the arrays and groups of a whole file, which is opened once.  errors  Those of arrays_in().
FileListing list_file(const std::string& name);

/// Returns a text that changes whenever the content of an object in an object store changes, if the object is a whole
/// file; empty for files and folders. Not collective.
/// errors  kSystem: there is no such object, or it cannot be read.
/// cost  A request.
std::string object_state(const std::string& name);

/// Returns the files next to a store's path that hold or describe its bytes, for any driver. They may be removed when
/// another store is written to that path. Not collective. Files that this process does not see are left out.
std::vector<std::string> sibling_files(const ResolvedName& found);

}  // namespace plait::driver
