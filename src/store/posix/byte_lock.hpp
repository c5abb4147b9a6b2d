/// Locks that exclude other programs from changing a file. They do not affect readers.
#pragma once

#include <cstdint>
#include <string>

#include "store/posix/descriptor.hpp"

namespace plait::store::posix {

/// Offset of the first byte that is used only for locks. No file has data at or after this offset, so that these locks
/// do not conflict with locks of data.
inline constexpr std::int64_t kLockOffset = std::int64_t{1} << 62;

enum class Wait : std::uint8_t { kNo, kYes };

/// Locks the byte at kLockOffset + `number` of a file that is open for writing, until its descriptor is closed or the
/// byte is unlocked. A lock that the same process holds through another descriptor conflicts as well. Returns false if
/// another descriptor has locked the byte. If the file system has no locks, returns true without a lock.
bool lock_byte(int file, std::int64_t number, Wait wait);
/// Waits for the lock of the file with this name and returns the descriptor that holds it until it is closed. Only the
/// holder of the lock may replace the file. Returns a descriptor without a lock if the file system has no locks, and an
/// invalid descriptor if the file cannot be opened for writing.
/// errors  kSystem, EINTR: a signal ends the wait.
Descriptor lock_name(const std::string& path);
void unlock_byte(int file, std::int64_t number) noexcept;

}  // namespace plait::store::posix
