/// Locks by which programs that change one file keep out of each other's way, and of no reader's.
#pragma once

#include <cstdint>
#include <string>

#include "store/posix/descriptor.hpp"

namespace plait::store::posix {

/// Nothing lies at or behind this offset of any file.
inline constexpr std::int64_t kLockedBytes = std::int64_t{1} << 62;

enum class Wait : std::uint8_t { kNo, kYes };

/// Locks the byte at kLockedBytes + `number` of a file that is open for writing, until that descriptor is closed or the
/// byte unlocked; a lock of the same process by another descriptor counts as another's.  false: somebody else has it.
/// Where the file system keeps no locks it goes on without: true.
bool lock_byte(int file, std::int64_t number, Wait wait);
/// Waits for the lock of a file that nobody replaces who does not hold it, and holds it until the descriptor is closed.
/// Goes on without one, as above and where the file cannot be opened for writing.
/// errors  kSystem, EINTR: the wait is to end.
Descriptor lock_name(const std::string& path);
void unlock_byte(int file, std::int64_t number) noexcept;

}  // namespace plait::store::posix
