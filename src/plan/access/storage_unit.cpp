// Computes the unit of a file that is distributed over disks in stripes.

#include "plan/access/storage_unit.hpp"

#include <numeric>

#include "base/int128.hpp"

namespace plait::plan {

std::int64_t storage_unit(std::int64_t stripe, std::int64_t disks, std::int64_t element_bytes) {
  constexpr base::Int128 kCoarsest = std::int64_t{4} << 20;
  constexpr base::Int128 kLargest = std::int64_t{1} << 40;
  if (disks == 1) return kStorageUnit;
  if (stripe % kStorageUnit == 0) {
    // A share has whole elements, so it is a multiple of the unit and of the element size.
    const base::Int128 share = base::Int128{stripe} / std::gcd(stripe, element_bytes) * element_bytes;
    return share <= kCoarsest ? stripe : kStorageUnit;
  }
  // All components reach a page boundary together after lcm(stripe, page) bytes of each. Example: stripes of 10,000
  // bytes on 3 disks have a period of 10,000 / 16 * 4096 * 3 = 7,680,000 bytes: 256 stripes or 625 pages of each disk.
  const base::Int128 period = base::Int128{stripe} / std::gcd(stripe, kStorageUnit) * kStorageUnit * disks;
  if (period > kLargest) return kStorageUnit;
  const auto unit = static_cast<std::int64_t>(period);
  return base::Int128{unit} / std::gcd(unit, element_bytes) * element_bytes <= kLargest ? unit : kStorageUnit;
}

}  // namespace plait::plan
