// The extended Euclidean algorithm.
//
// Each iteration preserves the invariants previous = previous_x * a and current = current_x * a, both modulo b.
// Example: a = 4, b = 6 gives g = 2 and x = 2, because 4 * 2 = 8 = 2 modulo 6.

#include "layout/index_set/congruence.hpp"

namespace plait {

Congruence solve_congruence(std::int64_t a, std::int64_t b) {
  std::int64_t previous = a;
  std::int64_t current = b;
  std::int64_t previous_x = 1;
  std::int64_t current_x = 0;
  while (current != 0) {
    const std::int64_t quotient = previous / current;
    const std::int64_t next = previous - quotient * current;
    const std::int64_t next_x = previous_x - quotient * current_x;
    previous = current;
    current = next;
    previous_x = current_x;
    current_x = next_x;
  }
  const std::int64_t modulus = b / previous;
  return {previous, (previous_x % modulus + modulus) % modulus};
}

}  // namespace plait
