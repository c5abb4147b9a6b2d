/// What the workers of a transport have given up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plait::transport {

/// A set of numbers, which grow as a rule.  Its room is made beforehand: all workers are to remember a number that they
/// agree on, whatever memory they have.
class GivenUp {
 public:
  GivenUp() { numbers_.reserve(kRoom); }
  /// Makes room for what one agreement may bring.  errors  std::bad_alloc: there is as much room as before.
  void prepare() {
    if (numbers_.capacity() - numbers_.size() < kOfOneAgreement) numbers_.reserve(2 * numbers_.capacity());
  }
  /// Forgets the smallest number where there is no room for another one.
  void insert(std::int64_t number) noexcept {
    if (contains(number)) return;
    if (numbers_.size() == numbers_.capacity()) numbers_.erase(numbers_.begin());
    numbers_.insert(std::lower_bound(numbers_.begin(), numbers_.end(), number), number);
  }
  bool contains(std::int64_t number) const noexcept {
    return std::binary_search(numbers_.begin(), numbers_.end(), number);
  }

 private:
  static constexpr std::size_t kRoom = 16;
  static constexpr std::size_t kOfOneAgreement = 2;
  std::vector<std::int64_t> numbers_;
};

}  // namespace plait::transport
