// Counts the allocations of the whole test program, including the library's, and makes them fail.
#pragma once

#include <cstdint>

namespace allocations {

/// Makes allocation `number` of this thread fail, counted from 1; 0: none.
void fail_at(std::int64_t number);
/// Makes allocation `number` of this thread and all later ones fail.
void fail_from(std::int64_t number);
/// Lets all later allocations of this thread succeed. Returns true if one has failed since fail_at().
bool failed();

/// Makes allocation `number` of all threads together fail.
void fail_anywhere_at(std::int64_t number);
bool failed_anywhere();

/// Number of live bytes, and its maximum since restart_peak(); always 0 under sanitizers, which replace the
/// allocator.
std::int64_t live_bytes();
std::int64_t peak_bytes();
void restart_peak();

}  // namespace allocations
