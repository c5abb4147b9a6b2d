/// Reserves space in files.
#pragma once

#include <cstdint>

namespace plait::base {

/// Reserves `bytes` bytes of a file from `begin` on. Without a reservation, a full disk would be reported by a signal
/// when mapped bytes are written. Returns an errno, 0 for success. EINTR: signals arrive faster than any piece can be
/// reserved.
/// cost    After a signal the kernel starts the current piece again, so pieces become smaller after each signal.
int allot(int file, std::int64_t begin, std::int64_t bytes) noexcept;

}  // namespace plait::base
