/// Computes the unit in bytes to which the boundaries between writers' parts of a file are rounded.
#pragma once

#include <cstdint>

namespace plait::plan {

/// Bytes of a disk block or page.
inline constexpr std::int64_t kStorageUnit = 4096;

/// Returns the unit, in bytes of the file, at whose multiples the shares of an array may begin so that no two ranks
/// write the same page.  The file is distributed over `disks` component files in stripes of `stripe` bytes.
///
/// If a stripe consists of whole pages, and the least common multiple of a stripe and an element is at most 4 MiB, the
/// unit is a stripe. If that multiple is larger, the unit is a page, because a page of the file is then also a page of
/// a component. If a stripe is not a multiple of a page, a page of a component contains bytes from several offsets of
/// the file, and the unit is the period after which all components reach a page boundary together.
std::int64_t storage_unit(std::int64_t stripe, std::int64_t disks, std::int64_t element_bytes);

}  // namespace plait::plan
