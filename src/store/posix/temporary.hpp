/// Names of files and folders under construction, and removal of those that killed processes have left.
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

/// Returns the folder for temporary files: TMPDIR, or /tmp.
std::string temporary_folder();

/// Returns the maximum length of a name in the folder.
std::size_t max_name_bytes(const std::filesystem::path& folder);
/// Returns a name that can be extended by `more` bytes: a longer one is cut, and gets a checksum that distinguishes it
/// from others with the same beginning.
std::string shortened(const std::string& name, std::size_t more, std::size_t most);

/// Returns `.field.npy.plait-HOST-`, which precedes process, counter and suffixes.
std::string temporary_prefix(const std::filesystem::path& target, const std::filesystem::path& folder);
/// Returns the part of such a prefix before the host.
std::string without_host(const std::string& prefix);

/// Returns `.field.npy.plait-unfinished`, the name of data that a later program may continue, on any host.
std::string unfinished_name(const std::filesystem::path& target, const std::filesystem::path& folder);
/// Returns the name for files next to an array in a hierarchy of folders, each of which has its own unfinished folder:
/// the name of the hierarchy, followed by that of the array.
std::string sibling_path(const std::string& folder, std::string_view array);
/// Locks a file or folder for this program. Returns false if another one holds the lock. If the file system has no
/// locks, it returns true.  errors  kSystem: the file cannot be locked for another reason.
bool lock_at_once(int file, const std::string& shown);
/// Opens and locks a file or folder of such a name, or makes it. existed: set to true if it was not made.
/// errors  kSystem: EBUSY, another program writes it.
Descriptor lock_unfinished(const std::string& path, bool folder, const std::string& shown, bool& existed);
/// Removes the unfinished files of a target; `remove` is called as in remove_stale().
/// errors  kSystem: EBUSY, another program writes it.
void remove_unfinished(const std::string& target, base::FunctionRef<void(const std::string&)> remove);

/// Calls `remove` with each file or folder of an ended process, and holds its lock meanwhile. A name of another form,
/// or of a process that may be alive, stays.
void remove_stale(const std::filesystem::path& folder, const std::string& prefix,
                  base::FunctionRef<void(const std::string&)> remove);

/// Age after which a folder under construction is abandoned if nothing in it has changed.
inline constexpr std::chrono::hours kAbandonedAfter{7 * 24};
/// Calls `remove` with each abandoned folder whose name begins with `prefix`, regardless of its host.
/// now: the time of the file system, because the clocks of hosts may differ.
/// errors  None: a folder that is locked, or that cannot be examined, stays.
void remove_abandoned(const std::filesystem::path& folder, const std::string& prefix, std::time_t now,
                      base::FunctionRef<void(const std::string&)> remove);

/// Renames a file unless the new name is taken; returns false then.  errors  kSystem.
bool rename_to_free(const std::string& from, const std::string& to);

/// Checks before anything is written that this user may replace a file in a folder like /tmp, where only the owners of
/// the file and of the folder may.
/// errors  kSystem.
void check_sticky(const std::filesystem::path& folder, uid_t owner, const std::string& shown);

}  // namespace plait::store::posix
