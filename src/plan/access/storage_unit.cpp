#include "plan/access/storage_unit.hpp"

#include <numeric>

#include "base/wide.hpp"

namespace plait::plan {

std::int64_t storage_unit(std::int64_t stripe, std::int64_t disks, std::int64_t element_bytes) {
  constexpr base::Wide kCoarsest = std::int64_t{4} << 20;
  constexpr base::Wide kLargest = std::int64_t{1} << 40;
  if (disks == 1) return kStorageUnit;
  if (stripe % kStorageUnit == 0) {
    // Shares are of whole elements as well.
    const base::Wide share = base::Wide{stripe} / std::gcd(stripe, element_bytes) * element_bytes;
    return share <= kCoarsest ? stripe : kStorageUnit;
  }
  const base::Wide period = base::Wide{stripe} / std::gcd(stripe, kStorageUnit) * kStorageUnit * disks;
  if (period > kLargest) return kStorageUnit;
  const auto unit = static_cast<std::int64_t>(period);
  return base::Wide{unit} / std::gcd(unit, element_bytes) * element_bytes <= kLargest ? unit : kStorageUnit;
}

}  // namespace plait::plan
