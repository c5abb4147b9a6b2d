// Detects overlap of strided boxes in memory, as a problem of sums.
//
// Problem: two boxes share a byte if two combinations of their indices give the same address. Trying all pairs of
// elements is too slow.
//
// Idea: let a's low end be A and b's high end B. A position of a is A + (a sum of multiples of its strides), one of b
// is B - (a sum of multiples of its strides). The two share a byte if the multiples of all strides, each bounded by its
// dimension, add up to B - A, or to up to `slack` bytes less, because elements have several bytes. reaches() searches
// with the largest stride first, and prunes by the sum that the remaining strides can reach and by their greatest
// common divisor.
//
// Example: elements of 1 byte. a has the positions 0, 4, 8 and b the positions 2, 6. A = 0 and B = 6: 4x + 4y = 6
// with x <= 2 and y <= 1. The divisor 4 does not divide 6, so the boxes share no byte.

#include "base/overlap.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/int128.hpp"

namespace plait::base {

namespace {

/// Maximum number of attempts of one search.
constexpr int kMaxTries = 100'000;

/// The multiples of `stride`, from 0 to `max_times` times.
struct Term {
  std::int64_t stride = 0;
  Int128 max_times = 0;
};

/// Decides whether bounded multiples of all strides and a number from 0 to `slack` can add up to a target.
class Sum {
 public:
  Sum(std::vector<Term> terms, Int128 slack) : terms_(std::move(terms)), slack_(slack) {
    std::erase_if(terms_, [](const Term& term) { return term.stride == 0 || term.max_times == 0; });
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.stride > b.stride; });
    std::size_t count = 0;
    for (const Term& term : terms_) {
      if (count > 0 && terms_[count - 1].stride == term.stride) {
        terms_[count - 1].max_times += term.max_times;
      } else {
        terms_[count++] = term;
      }
    }
    terms_.resize(count);
    max_sum_.resize(count + 1);
    divisor_.resize(count + 1);
    max_sum_[count] = slack_;
    for (std::size_t i = count; i-- > 0;) {
      max_sum_[i] = max_sum_[i + 1] + terms_[i].stride * terms_[i].max_times;
      divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].stride);
    }
  }

  /// True if the target is reached, or after too many attempts.
  bool reaches(Int128 target, std::size_t from = 0) {
    if (target < 0 || target > max_sum_[from]) return false;
    if (target <= slack_) return true;
    if (from == terms_.size() || target % divisor_[from] > slack_) return false;
    const Term& term = terms_[from];
    const Int128 min_times = std::max<Int128>(ceil_divide(target - max_sum_[from + 1], term.stride), 0);
    for (Int128 times = std::min(term.max_times, target / term.stride); times >= min_times; --times)
      if (++tries_ > kMaxTries || reaches(target - times * term.stride, from + 1)) return true;
    return false;
  }

 private:
  std::vector<Term> terms_;  // in descending order of strides, each stride once
  Int128 slack_;
  std::vector<Int128> max_sum_;  // for each term: the largest sum of this and the later terms, and of the slack
  // For each term: greatest common divisor of the strides of this and the later terms; 0 after the last.
  std::vector<std::int64_t> divisor_;
  int tries_ = 0;
};

std::int64_t magnitude(std::int64_t stride) { return stride < 0 ? -std::max(stride, -INT64_MAX) : stride; }

bool is_empty(const MemoryBox& box) {
  return box.element_bytes < 1 || std::any_of(box.shape.begin(), box.shape.end(), [](auto size) { return size < 1; });
}

/// True if the stride of each dimension exceeds the extent of all dimensions with smaller strides, as in slices of
/// dense arrays.
bool is_nested(const MemoryBox& box) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < box.shape.size(); ++d)
    if (box.shape[d] > 1) order.push_back(d);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return magnitude(box.strides[a]) < magnitude(box.strides[b]); });
  Int128 reach = box.element_bytes;
  for (const std::size_t d : order) {
    if (magnitude(box.strides[d]) < reach) return false;
    reach += Int128{magnitude(box.strides[d])} * (box.shape[d] - 1);
  }
  return true;
}

}  // namespace

Bounds find_bounds(const MemoryBox& box) {
  if (is_empty(box)) return {};
  Int128 low = reinterpret_cast<std::uintptr_t>(box.first);
  Int128 high = low + box.element_bytes;
  for (std::size_t d = 0; d < box.shape.size(); ++d)
    (box.strides[d] < 0 ? low : high) += Int128{box.strides[d]} * (box.shape[d] - 1);
  const auto clamp_address = [](Int128 position) {
    return position < 0             ? std::uintptr_t{0}
           : position > UINTPTR_MAX ? UINTPTR_MAX
                                    : static_cast<std::uintptr_t>(position);
  };
  return {clamp_address(low), clamp_address(high)};
}

bool share_memory(const MemoryBox& a, const MemoryBox& b) {
  const Bounds bounds_a = find_bounds(a);
  const Bounds bounds_b = find_bounds(b);
  if (bounds_a.empty() || bounds_b.empty() || !bounds_a.meets(bounds_b)) return false;
  // Positions of a start at its low end and ascend, positions of b start at its high end and descend. They meet if
  // their sums equal the distance of both ends.
  std::vector<Term> terms;
  for (const MemoryBox* box : {&a, &b})
    for (std::size_t d = 0; d < box->shape.size(); ++d)
      terms.push_back({magnitude(box->strides[d]), box->shape[d] - 1});
  const Int128 slack = Int128{a.element_bytes} + b.element_bytes - 2;
  return Sum(std::move(terms), slack).reaches(Int128{bounds_b.high} - 1 - Int128{bounds_a.low});
}

bool overlaps_itself(const MemoryBox& box) {
  if (is_empty(box) || is_nested(box)) return false;
  // Two different elements have a first dimension k in which they differ, by 1 to n - 1 positions. In the later
  // dimensions they differ by any number of positions.
  for (std::size_t k = 0; k < box.shape.size(); ++k) {
    if (box.shape[k] < 2) continue;
    std::vector<Term> terms{{magnitude(box.strides[k]), box.shape[k] - 2}};
    Int128 target = Int128{magnitude(box.strides[k])} * (box.shape[k] - 1) + box.element_bytes - 1;
    for (std::size_t d = k + 1; d < box.shape.size(); ++d) {
      terms.push_back({magnitude(box.strides[d]), 2 * Int128{box.shape[d] - 1}});
      target += Int128{magnitude(box.strides[d])} * (box.shape[d] - 1);
    }
    if (Sum(std::move(terms), 2 * (Int128{box.element_bytes} - 1)).reaches(target)) return true;
  }
  return false;
}

}  // namespace plait::base
