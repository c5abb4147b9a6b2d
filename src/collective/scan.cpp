// Computes prefix sums over the workers.
//
// On one node each worker reads the values of all others from shared notes. Between nodes the sums are built in log2(P)
// rounds: in the round of distance d each worker sends the sum of the d values up to and including its own to the
// worker d positions after it. The last worker then broadcasts the total.
//
// Example: 4 workers with the values 3, 1, 4, 1. At distance 1 the workers 1, 2 and 3 receive 3, 1 and 4, so that their
// sums are 4, 5 and 5. At distance 2 worker 2 receives 3 of worker 0, and worker 3 receives 4 of worker 1, so that
// their sums are 8 and 9. The received values add up to 0, 3, 4 and 8, the sums before each worker, and 9 is broadcast.

#include "collective/scan.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

namespace plait::collective {

namespace {

using Word = std::array<std::byte, sizeof(std::int64_t)>;

Word encode_word(std::int64_t value) {
  Word bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::int64_t decode_word(const Word& bytes) {
  std::int64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Returns the sum, or 2^63 - 1 if it is larger.
std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return a > kMax - b ? kMax : a + b;
}

}  // namespace

Scan::Scan(transport::Transport& transport) : transport_(transport), message_(transport) {
  if (transport.nodes_apart()) message_.allocate(2 * sizeof(Word));
}

void Scan::announce(std::int64_t value) {
  value_ = value;
  if (transport_.nodes_apart()) return;
  std::memcpy(transport_.note(transport_.node_rank()).data(), &value, sizeof value);
}

ScanResult Scan::sum(FirstError& error) { return transport_.nodes_apart() ? sum_by_messages(error) : sum_notes(); }

ScanResult Scan::sum_notes() const {
  ScanResult sums;
  for (int node_rank = 0; node_rank < transport_.node_size(); ++node_rank) {
    std::int64_t value = 0;
    std::memcpy(&value, transport_.note(node_rank).data(), sizeof value);
    if (transport_.worker_on_node(node_rank) < transport_.rank()) sums.before = add_saturating(sums.before, value);
    sums.all = add_saturating(sums.all, value);
  }
  return sums;
}

ScanResult Scan::sum_by_messages(FirstError& error) {
  ScanResult sums;
  const int own_rank = transport_.rank();
  const int workers = transport_.size();
  std::int64_t partial_sum = value_;  // the sum of this worker's value and the distance - 1 values before it
  for (int distance = 1; distance < workers; distance *= 2) {
    const std::span out = message_.first(sizeof(Word));
    const std::span in(message_.data() + sizeof(Word), sizeof(Word));
    std::memcpy(out.data(), &partial_sum, sizeof partial_sum);
    std::unique_ptr<transport::Ticket> sent;
    std::unique_ptr<transport::Ticket> received;
    // The receive is started first, and both before a wait, so that no two workers wait for each other.
    if (own_rank - distance >= 0)
      received = reserve_.again(error, [&] { return transport_.receive(own_rank - distance, in); });
    if (own_rank < workers - distance)
      sent = reserve_.again(error, [&] { return transport_.send(own_rank + distance, out); });
    if (received) {
      received->complete();
      std::int64_t before = 0;
      std::memcpy(&before, in.data(), sizeof before);
      sums.before = add_saturating(sums.before, before);
      partial_sum = add_saturating(partial_sum, before);
    }
    if (sent) sent->complete();
  }
  Word all = encode_word(partial_sum);
  transport_.broadcast(all, workers - 1);
  sums.all = decode_word(all);
  return sums;
}

}  // namespace plait::collective
