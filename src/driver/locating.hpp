/// Where names lead, whichever driver opens them.
#pragma once

#include <string>
#include <vector>

#include "container/format.hpp"
#include "driver/located.hpp"

namespace plait::driver {

/// Looks without opening what is there: nothing need be, and what is damaged has no components.  A plain name whose
/// file's bytes only stand for a store leads to that store.  Not collective.
/// errors  kArgument: a name that cannot be.
/// cost    Opens the file or the text under the name, or lists its folder.
Located locate(const std::string& name);
/// Locates a file to be created, without regard to an existing file of that name.  errors  As locate().
Located locate_new(const std::string& name);

/// The arrays that an ordinary file holds under names, in its order; empty: it does not hold arrays under names.  Not
/// collective.
/// errors  kArgument: a name that cannot be.  kSystem: it is not there, not permitted, or damaged.
std::vector<container::Member> arrays_in(const std::string& name);

/// Removes what programs have left unfinished of new files of that name (FileOptions::keeps_unfinished).  Not collective.
/// errors  kArgument: a name that cannot be.  kSystem: EBUSY, another program is writing it.
void remove_unfinished(const std::string& name);
/// The groups of such a file with their attributes, the one that all others are in first; none in formats without groups.
/// errors  As arrays_in().
std::vector<GroupAttributes> groups_in(const std::string& name);

/// The files beside its path that hold or describe its bytes, by any driver: they may go where something else is
/// written to that path, whatever the name for it.  Not collective.  Without those that this process does not see.
std::vector<std::string> files_beside(const Located& found);

}  // namespace plait::driver
