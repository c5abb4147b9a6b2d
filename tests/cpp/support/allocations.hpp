// The allocations of the whole test program, the library's among them: counted, and made to fail.
#pragma once

#include <cstdint>

namespace allocations {

/// The next allocation of this thread that fails, counted from 1; 0: none does.
void fail_at(std::int64_t number);
/// The same, and all that follow it fail as well.
void fail_from(std::int64_t number);
/// Lets the rest of this thread's succeed.  Whether one has failed since fail_at().
bool failed();

/// The same of all threads together: the next allocation of any thread that fails.
void fail_anywhere_at(std::int64_t number);
bool failed_anywhere();

/// Bytes that are live, and the most that were since restart_peak(); always 0 under sanitizers, which count for
/// themselves.
std::int64_t live_bytes();
std::int64_t peak_bytes();
void restart_peak();

}  // namespace allocations
