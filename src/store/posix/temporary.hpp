/// Names of what is under construction, and what becomes of those that killed processes left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::store::posix {

/// The longest name that the folder takes.
std::size_t most_name_bytes(const std::filesystem::path& folder);
/// A name that leaves room for `more` bytes behind it: cut, and told from others with that beginning by a sum.
std::string shortened(const std::string& name, std::size_t more, std::size_t most);

/// `.field.npy.plait-HOST-`, in front of process, counter and suffixes.
std::string temporary_prefix(const std::filesystem::path& target, const std::filesystem::path& folder);
/// The same in front of the host.
std::string without_host(const std::string& prefix);

/// `.field.npy.plait-unfinished`: of what stays until a later program goes on with it, on whatever host.
std::string unfinished_name(const std::filesystem::path& target, const std::filesystem::path& folder);
/// The name of what is beside an array in a hierarchy of folders, each of which has an unfinished one of its own: the
/// folder's, with the array's behind it.
std::string beside_of(const std::string& folder, std::string_view array);
/// Locks a file or folder as this program's own; false: another one has it.  Where the file system keeps no locks it
/// goes on without.  errors  kSystem: it cannot be locked for another reason.
bool lock_at_once(int file, const std::string& shown);
/// Opens and locks what lies under such a name, or makes it: a folder or a file.
/// existed: set to whether it was there.
/// errors   kSystem: EBUSY, another program writes it.
Descriptor lock_unfinished(const std::string& path, bool folder, const std::string& shown, bool& existed);
/// Removes what unfinished files of a target there are; `remove` is called as by remove_stale().
/// errors  kSystem: EBUSY, another program writes it.
void remove_unfinished(const std::string& target, base::FunctionRef<void(const std::string&)> remove);

/// Calls `remove` with each file or folder that processes left behind which are gone, and holds its lock meanwhile.  A
/// name that is not ours, or whose process may live, stays.
void remove_stale(const std::filesystem::path& folder, const std::string& prefix,
                  base::FunctionRef<void(const std::string&)> remove);

/// A folder under construction is abandoned if nothing in it has changed for this long.
inline constexpr std::chrono::hours kAbandonedAfter{7 * 24};
/// Calls `remove` with each abandoned folder whose name begins with `prefix`, whichever host made it.
/// now     file system's time: the clocks of hosts may differ.
/// errors  None: a folder that is locked, or that cannot be examined, stays.
void remove_abandoned(const std::filesystem::path& folder, const std::string& prefix, std::time_t now,
                      base::FunctionRef<void(const std::string&)> remove);

/// Gives a file another name unless that is taken: then false.  errors  kSystem.
bool rename_to_free(const std::string& from, const std::string& to);

/// In a folder like /tmp only the owners of a file and of the folder replace it: said before anything is written.
/// errors  kSystem.
void check_sticky(const std::filesystem::path& folder, uid_t owner, const std::string& shown);

}  // namespace plait::store::posix
