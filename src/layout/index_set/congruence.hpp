/// Linear congruences.
#pragma once

#include <cstdint>

namespace plait {

/// The greatest common divisor g of a and b (`divisor`), and the x with 0 <= x < b/g and a*x = g modulo b (`inverse`).
struct Congruence {
  std::int64_t divisor = 1;
  std::int64_t inverse = 0;
};
/// pre  a > 0, b > 0.
Congruence solve_congruence(std::int64_t a, std::int64_t b);

}  // namespace plait
