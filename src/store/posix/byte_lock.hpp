/// Locks by which programs that change one file keep out of each other's way, and of no reader's.
#pragma once

#include <cstdint>

namespace plait::store::posix {

/// Nothing lies at or behind this offset of any file.
inline constexpr std::int64_t kLockedBytes = std::int64_t{1} << 62;

enum class Wait : std::uint8_t { kNo, kYes };

/// Locks the byte at kLockedBytes + `number` of a file that is open for writing, until that descriptor is closed or the
/// byte unlocked; a lock of the same process by another descriptor counts as another's.  false: somebody else has it.
/// Where the file system keeps no locks it goes on without: true.
bool lock_byte(int file, std::int64_t number, Wait wait);
void unlock_byte(int file, std::int64_t number) noexcept;

}  // namespace plait::store::posix
