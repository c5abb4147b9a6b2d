/// The numbers of objects, such as files, that workers of a transport have abandoned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plait::transport {

/// A set of numbers; each new number is usually larger than all before it.  Memory is allocated beforehand, because all
/// workers must remember a number on which they have agreed, even if memory is short.
class AbandonedNumbers {
 public:
  AbandonedNumbers() { numbers_.reserve(kCapacity); }
  /// Reserves capacity for the numbers of one agreement.
  /// errors  std::bad_alloc: the capacity is unchanged.
  void prepare() {
    if (numbers_.capacity() - numbers_.size() < kMaxPerAgreement) numbers_.reserve(2 * numbers_.capacity());
  }
  /// Discards the smallest number if the capacity is exhausted.
  void insert(std::int64_t number) noexcept {
    if (contains(number)) return;
    if (numbers_.size() == numbers_.capacity()) numbers_.erase(numbers_.begin());
    numbers_.insert(std::lower_bound(numbers_.begin(), numbers_.end(), number), number);
  }
  bool contains(std::int64_t number) const noexcept {
    return std::binary_search(numbers_.begin(), numbers_.end(), number);
  }

 private:
  static constexpr std::size_t kCapacity = 16;        // initial capacity
  static constexpr std::size_t kMaxPerAgreement = 2;  // an agreement finds the smallest and the largest number
  std::vector<std::int64_t> numbers_;
};

}  // namespace plait::transport
