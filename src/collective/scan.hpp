/// Sums over the workers in front of this one.
#pragma once

#include <cstdint>

#include "collective/message_buffer.hpp"
#include "collective/reserve.hpp"
#include "transport/transport.hpp"

namespace plait::collective {

/// The sum of the values of all workers with smaller numbers, and of all workers.
struct Sums {
  std::int64_t before = 0;
  std::int64_t all = 0;
};

/// Adds numbers that are not negative; sums beyond 2^63 - 1 stay there.
///
/// Every worker calls announce() before an agreement and sum() after it; the next announcement follows another
/// agreement.
/// cost  sum(): on one node, a look at the notes of the others; else log2(workers) messages of 8 bytes and a broadcast.
class Scan {
 public:
  /// Made before an agreement, as there may be no memory for it.
  explicit Scan(transport::Transport& transport);
  void announce(std::int64_t value);
  /// Collective.  error: of a worker that lacked memory on the way, but has done its part.
  Sums sum(FirstError& error);

 private:
  Sums sum_of_notes() const;
  Sums sum_of_messages(FirstError& error);

  transport::Transport& transport_;
  std::int64_t mine_ = 0;
  MessageBuffer words_;  // where nodes are apart: one that is sent, one that is received
  Reserve reserve_;
};

}  // namespace plait::collective
