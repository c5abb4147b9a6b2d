/// Computes prefix sums over the workers.
#pragma once

#include <cstdint>

#include "collective/message_buffer.hpp"
#include "collective/reserve.hpp"
#include "transport/transport.hpp"

namespace plait::collective {

/// The sum of the values of all workers with smaller ranks, and the sum of all values.
struct ScanResult {
  std::int64_t before = 0;
  std::int64_t all = 0;
};

/// Adds one non-negative number of each worker. Sums above 2^63 - 1 become 2^63 - 1.
///
/// Every worker calls announce() before an agreement (agree.hpp) and sum() after it. Another agreement must precede the
/// next announce().
/// cost    sum(): On one node, a read of the others' notes (small records in shared memory); else log2(workers)
/// messages
///         of 8 bytes and a broadcast.
class Scan {
 public:
  /// Allocates memory, so it is constructed before an agreement.
  explicit Scan(transport::Transport& transport);
  /// Sets the value of this worker.
  void announce(std::int64_t value);
  /// Returns the sums. Collective. A worker that lacks memory still does its part and records std::bad_alloc in
  /// `error`.
  ScanResult sum(FirstError& error);

 private:
  /// Return the sums on one node, from memory that its workers share, and between nodes.
  ScanResult sum_notes() const;
  ScanResult sum_by_messages(FirstError& error);

  transport::Transport& transport_;
  std::int64_t value_ = 0;
  MessageBuffer message_;  // if there are several nodes: one word to send, one to receive
  Reserve reserve_;
};

}  // namespace plait::collective
