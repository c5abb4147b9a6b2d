/// Files by which processes of one user find each other, and their locks, which last as long as the process.
#pragma once

#include <cstdint>
#include <string>

namespace plait::base::host {

/// The folder named by PLAIT_MEET; else one of the user's own on this host, which is made where it is missing.
/// errors  kSystem, kArgument: it cannot be made or written, or others may read or write in it; the user's own on this
///         host is a link.
std::string meeting_folder();

/// Bytes of a file that a lock is on.  No length: all behind the first one.
struct LockRange {
  std::int64_t first = 0;
  std::int64_t length = 0;
};

/// Whether somebody else holds a lock there.  errors  kSystem: that cannot be known, as the file system has no locks.
bool is_locked(int file, LockRange range = {});
/// The process that holds a lock there; 0 where nobody does, or where the system does not tell, as of locks that go
/// with a descriptor like ours.
int locker(int file, LockRange range = {});
/// Takes the lock, if it is free: false with errno where not.  It goes with the last copy of the descriptor.
bool take_lock(int file, LockRange range = {});
void give_lock(int file, LockRange range = {});

/// Whether a path still leads to an open file.
bool leads_to(const std::string& path, int file);

}  // namespace plait::base::host
