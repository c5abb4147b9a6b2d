/// Files through which the processes of one user find each other, and locks on them, which end with the process.
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
/// Returns the process that holds a lock in the range; 0 if there is none, or if the system does not say, as for locks
/// that belong to a file descriptor like those of Plait.
int locker(int file, LockRange range = {});
/// Takes the lock if it is free; else returns false and sets errno.  It is released with the last copy of the
/// descriptor.
bool take_lock(int file, LockRange range = {});
void give_lock(int file, LockRange range = {});

/// Returns true if a path still refers to an open file.
bool leads_to(const std::string& path, int file);

}  // namespace plait::base::host
