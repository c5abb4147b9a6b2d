/// Files through which the processes of one user find each other, and locks on these files, which the system releases
/// when a process ends.
#pragma once

#include <cstdint>
#include <string>

namespace plait::base::host {

/// Returns the folder named by PLAIT_MEET, or without it a folder of this user on this host, which is created if it is
/// missing.
/// errors  kSystem, kArgument: it cannot be created or written, or others may read or write in it; the user's own
///         folder on this host is a link
std::string meeting_folder();

/// The bytes of a file that a lock covers.  A length of 0 means all bytes from the first one on.
struct LockRange {
  std::int64_t first = 0;
  std::int64_t length = 0;
};

/// Returns true if another process holds a lock in the range.
/// errors  kSystem: that is unknown, because the file system has no locks.
bool is_locked(int file, LockRange range = {});
/// Returns the number of the process that holds a lock in the range; 0 if there is none, or if the system does not know
/// it: the locks that take_lock() takes belong to a descriptor, not to a process.
int find_locking_process(int file, LockRange range = {});
/// Takes the lock if it is free; else returns false and sets errno.  The system releases the lock when the last copy of
/// the descriptor is closed.
bool take_lock(int file, LockRange range = {});
void release_lock(int file, LockRange range = {});

/// Returns true if a path refers to the open file `file`: false if the file was renamed, removed or replaced.
bool leads_to(const std::string& path, int file);

}  // namespace plait::base::host
