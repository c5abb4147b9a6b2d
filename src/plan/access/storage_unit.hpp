/// Where the shares of writers may begin.
#pragma once

#include <cstdint>

namespace plait::plan {

/// A disk block or page.
inline constexpr std::int64_t kStorageUnit = 4096;

/// The unit, in bytes of the file, at whose multiples ranks may part an array of elements of so many bytes that is
/// distributed over `disks` files in stripes of `stripe` bytes, so that no two of them write one page.
///
/// A stripe where it has whole pages and is no coarser than a few windows, else a page: a page of the file is then one
/// of a component as well.  With other stripes a page of a component holds bytes from several positions, and only where
/// all components come to whole pages at once no page is shared.
std::int64_t storage_unit(std::int64_t stripe, std::int64_t disks, std::int64_t element_bytes);

}  // namespace plait::plan
