/// Linear congruences.
#pragma once

#include <cstdint>

namespace plait {

/// The greatest common divisor g of a and b, and the x, 0 <= x < b/g, with a*x = g modulo b. a, b > 0.
struct Congruence {
  std::int64_t divisor = 1;
  std::int64_t inverse = 0;
};
Congruence solve_congruence(std::int64_t a, std::int64_t b);

}  // namespace plait
