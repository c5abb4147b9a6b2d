// Counts the allocations of the whole test program, including the library's, and makes them fail.
#pragma once

#include <cstdint>

namespace allocations {

/// Makes allocation `number` of this thread fail, counted from 1; 0 makes none fail.
void fail_at(std::int64_t number);
/// Makes allocation `number` of this thread and all later ones fail.
void fail_from(std::int64_t number);
/// Lets all later allocations of this thread succeed. Returns true if one has failed since fail_at().
bool failed();

/// Makes allocation `number` fail, counted from 1 over all threads; 0 makes none fail.
void fail_anywhere_at(std::int64_t number);
/// Lets all later allocations succeed. Returns true if one has failed since fail_anywhere_at().
bool failed_anywhere();

/// Return the number of allocated bytes, and its maximum since restart_peak(). Both are 0 under sanitizers, because
/// blocks then have no header that contains their size.
std::int64_t live_bytes();
std::int64_t peak_bytes();
void restart_peak();

}  // namespace allocations
