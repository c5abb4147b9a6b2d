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
/// Returns a name that has at most `max_bytes` bytes after it is extended by `more` bytes. A longer name is cut, and
/// gets a checksum that distinguishes it from others with the same beginning.
std::string shortened(const std::string& name, std::size_t more, std::size_t max_bytes);

/// Returns the prefix of temporary names, such as `.field.npy.plait-HOST-`. The process, a counter and suffixes follow
/// it.
std::string temporary_prefix(const std::filesystem::path& target, const std::filesystem::path& folder);
/// Returns the part of such a prefix before the host.
std::string without_host(const std::string& prefix);

/// Returns `.field.npy.plait-unfinished`, the name of data that a later program may continue, on any host.
std::string unfinished_name(const std::filesystem::path& target, const std::filesystem::path& folder);
/// Returns the path from which the unfinished folder of an array in a hierarchy of folders is named: the path of the
/// hierarchy, followed by the name of the array, so that each array has its own unfinished folder.
std::string sibling_path(const std::string& folder, std::string_view array);
/// Locks a file or folder for this program, without waiting. Returns false if another program holds the lock, and true
/// if the file system has no locks.  errors  kSystem: the file cannot be locked for another reason.
bool lock_at_once(int file, const std::string& shown);
/// Opens and locks the unfinished file or folder `path`, or makes it. existed: set to true if it existed already.
/// errors  kSystem: EBUSY, another program writes it.
Descriptor lock_unfinished(const std::string& path, bool folder, const std::string& shown, bool& existed);
/// Removes the unfinished files of a target; `remove` is called as in remove_stale().
/// errors  kSystem: EBUSY, another program writes it.
void remove_unfinished(const std::string& target, base::FunctionRef<void(const std::string&)> remove);

/// Calls `remove` with each temporary file or folder of an ended process, and holds its lock during the call. Names of
/// another form, and those of processes that may be alive, are skipped.
void remove_stale(const std::filesystem::path& folder, const std::string& prefix,
                  base::FunctionRef<void(const std::string&)> remove);

/// Age after which a folder under construction counts as abandoned if nothing in it has changed.
inline constexpr std::chrono::hours kAbandonedAfter{7 * 24};
/// Calls `remove` with each abandoned folder whose name begins with `prefix`, regardless of its host.
/// now: the time by the clock of the file system, because the clocks of hosts may differ.
/// errors  None: a folder that is locked, or that cannot be examined, is skipped.
void remove_abandoned(const std::filesystem::path& folder, const std::string& prefix, std::time_t now,
                      base::FunctionRef<void(const std::string&)> remove);

/// Renames a file. Returns false if the new name is taken.  errors  kSystem.
bool rename_to_free(const std::string& from, const std::string& to);

/// Checks that this user may replace a file in a folder with the sticky bit, such as /tmp, where only the owners of the
/// file and of the folder may do that. Called before anything is written.
/// errors  kSystem.
void check_sticky(const std::filesystem::path& folder, uid_t owner, const std::string& shown);

}  // namespace plait::store::posix
