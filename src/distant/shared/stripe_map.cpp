// The arithmetic of stripes, and the division of a request into batches.
//
// Stripe s is in component s mod P, at position (s div P) * unit. A request of consecutive stripes is therefore one
// contiguous range in each component that it touches. batches() computes these ranges and divides them into accesses of
// at most `max_bytes` bytes. It cycles through the components, so that the first accesses use as many disks as
// possible.
//
// Example: unit = 4, P = 3, and a request of 20 bytes at offset 2 (bytes 2 to 21, stripes 0 to 5). The ranges
// (component, position, bytes) are (0, 2, 6), (1, 0, 8) and (2, 0, 6).
//   max_bytes = 8   stripes are combined, stride = 8:   (0,2,6) (1,0,8) (2,0,6)
//   max_bytes = 4   at most one stripe, stride = 4:     (0,2,2) (1,0,4) (2,0,4)  (0,4,4) (1,4,4) (2,4,2)

#include "distant/shared/stripe_map.hpp"

#include <algorithm>
#include <limits>

#include "base/int128.hpp"

namespace plait::distant::shared {

/// A file with a single component is one stripe of unlimited size.
StripeMap::StripeMap(std::int64_t unit, int components)
    : unit_(components == 1 ? std::numeric_limits<std::int64_t>::max() : unit), components_(components) {}

int StripeMap::component_at(std::int64_t offset) const { return static_cast<int>(offset / unit_ % components_); }

std::int64_t StripeMap::position_at(std::int64_t offset) const {
  return offset / unit_ / components_ * unit_ + offset % unit_;
}

std::int64_t StripeMap::offset_at(int component, std::int64_t position) const {
  const base::Int128 stripe = base::Int128(position / unit_) * components_ + component;
  return base::saturate(stripe * unit_ + position % unit_);
}

std::int64_t StripeMap::length(int component, std::int64_t size) const {
  const std::int64_t full_stripes = size / unit_;  // of the file; the next stripe, of size % unit_ bytes, is the last
  const std::int64_t own_stripes = full_stripes / components_ + (component < full_stripes % components_ ? 1 : 0);
  return own_stripes * unit_ + (component == full_stripes % components_ ? size % unit_ : 0);
}

std::int64_t StripeMap::end(int component, std::int64_t length) const {
  if (length == 0) return 0;
  const std::int64_t last = offset_at(component, length - 1);
  return last == std::numeric_limits<std::int64_t>::max() ? last : last + 1;
}

std::vector<Batch> StripeMap::batches(std::int64_t offset, std::int64_t bytes, std::int64_t max_bytes) const {
  if (bytes == 0) return {};
  const std::int64_t last = offset + (bytes - 1);
  const std::int64_t first_stripe = offset / unit_;
  const std::int64_t last_stripe = last / unit_;
  // The remaining range of each component, in the order of their first bytes.
  std::vector<Batch> left;
  const std::int64_t involved = std::min<std::int64_t>(components_, last_stripe - first_stripe + 1);
  left.reserve(static_cast<std::size_t>(involved));
  for (std::int64_t i = 0; i < involved; ++i) {
    const std::int64_t stripe = first_stripe + i;
    const std::int64_t final_stripe = stripe + (last_stripe - stripe) / components_ * components_;
    const std::int64_t begin = i == 0 ? position_at(offset) : stripe / components_ * unit_;
    const std::int64_t end =
        final_stripe == last_stripe ? position_at(last) + 1 : (final_stripe / components_ + 1) * unit_;
    left.push_back({static_cast<int>(stripe % components_), begin, end - begin});
  }
  const std::int64_t stride = unit_ < max_bytes ? max_bytes / unit_ * unit_ : max_bytes;
  std::vector<Batch> result;
  result.reserve(static_cast<std::size_t>(std::max(involved, bytes / stride)));
  for (bool any = true; any;) {
    any = false;
    for (Batch& rest : left) {
      if (rest.bytes == 0) continue;
      // An access ends at a multiple of `stride` in the component or, if stripes are not smaller than accesses, in the
      // stripe. So all accesses but the first of a component are aligned, wherever the request begins.
      std::int64_t part = stride - (unit_ < max_bytes ? rest.position : rest.position % unit_) % stride;
      if (unit_ >= max_bytes) part = std::min(part, contiguous_bytes(rest.position));
      part = std::min(part, rest.bytes);
      result.push_back({rest.component, rest.position, part});
      rest.position += part;
      rest.bytes -= part;
      any = any || rest.bytes > 0;
    }
  }
  return result;
}

}  // namespace plait::distant::shared
