/// Room in files.
#pragma once

#include <cstdint>

namespace plait::base {

/// Reserves `bytes` bytes of a file from `begin` on, so that none is found to be missing when it is touched: that would
/// be a signal.  Returns an errno, 0 where it worked.  EINTR: signals come faster than any piece can be had.
/// cost    Where a signal comes, which has the kernel begin anew, it goes on in pieces that become smaller.
int allot(int file, std::int64_t begin, std::int64_t bytes) noexcept;

}  // namespace plait::base
