/// Pseudo-random numbers that are the same on every machine: splitmix64 by S. Vigna.
#pragma once

#include <cstdint>

namespace plait::base {

/// Returns an evenly distributed hash of a number.
inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// The increment of the generator's state for each number.
inline constexpr std::uint64_t kRandomIncrement = 0x9e3779b97f4a7c15U;

/// A generator of pseudo-random numbers.
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix(state_ += kRandomIncrement); }
  /// Returns a number that is at least 0 and below `limit`; `limit` is at least 1.
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit));
  }
  /// Returns a number above 0 and at most 1.
  double share() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace plait::base
