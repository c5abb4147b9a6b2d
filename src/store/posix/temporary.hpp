/// Names of files and folders under construction, and removal of those that killed processes have left.
///
/// A new file has a temporary name until it is complete. An unfinished file is one that its program keeps when it
/// fails, so that a later program can continue it.
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
/// Returns a name that has at most `max_bytes` bytes after `reserved_bytes` bytes are appended to it. A longer name is
/// cut, and gets a checksum that distinguishes it from others with the same beginning.
std::string shorten_name(const std::string& name, std::size_t reserved_bytes, std::size_t max_bytes);

/// Returns the prefix of temporary names, such as `.field.npy.plait-HOST-`, after which a name has the process ID, a
/// counter and suffixes.
std::string temporary_prefix(const std::filesystem::path& target, const std::filesystem::path& folder);
/// Returns the part of such a prefix before the host, here `.field.npy.plait-`.
std::string without_host(const std::string& prefix);

/// Returns `.field.npy.plait-unfinished`, the name of data that a later program may continue, on any host.
std::string unfinished_name(const std::filesystem::path& target, const std::filesystem::path& folder);
/// Returns the path from which the unfinished folder of an array in a hierarchy of folders is named. It differs for
/// each array: for `a.zarr` and the array `x/y` it is `a.zarr::x%2Fy`.
std::string sibling_path(const std::string& folder, std::string_view array);
/// Locks a file or folder for this program, without waiting. Returns false if another program holds the lock, and true
/// if the file system has no locks.  errors  kSystem: the file cannot be locked for another reason.
bool lock_at_once(int file, const std::string& display_name);
/// Opens the unfinished file or folder `path`, or makes it if it does not exist, and locks it. Returns its descriptor.
/// is_folder: true for a folder. existed: set to true if it existed already.
/// errors  kSystem: EBUSY, another program writes it.
Descriptor lock_unfinished(const std::string& path, bool is_folder, const std::string& display_name, bool& existed);
/// Removes the unfinished files of a target; `remove` is called as in remove_stale().
/// errors  kSystem: EBUSY, another program writes it.
void remove_unfinished(const std::string& target, base::FunctionRef<void(const std::string&)> remove);

/// Calls `remove` with the path of each temporary file or folder in `folder` that an ended process of this host has
/// left. Holds the lock of the file during the call. Skips names that do not begin with `prefix` and a process ID, and
/// files of processes that may be alive.
void remove_stale(const std::filesystem::path& folder, const std::string& prefix,
                  base::FunctionRef<void(const std::string&)> remove);

/// Age after which a folder under construction counts as abandoned if nothing in it has changed.
inline constexpr std::chrono::hours kAbandonedAfter{7 * 24};
/// Calls `remove` with the path of each abandoned folder whose name begins with `prefix`, regardless of the host that
/// made it.
/// now: the time by the clock of the file system, because the clocks of hosts may differ.
/// errors  None: a folder that is locked, or that cannot be examined, is skipped.
void remove_abandoned(const std::filesystem::path& folder, const std::string& prefix, std::time_t now,
                      base::FunctionRef<void(const std::string&)> remove);

/// Renames a file. Returns false, without renaming it, if the new name exists.  errors  kSystem.
bool rename_to_free(const std::string& from, const std::string& to);

/// Checks that this user may replace a file of `owner` in a folder. In a folder with the sticky bit, such as /tmp, only
/// the owners of the file and of the folder may do that. Called before anything is written.
/// errors  kSystem.
void check_sticky(const std::filesystem::path& folder, uid_t owner, const std::string& display_name);

}  // namespace plait::store::posix
