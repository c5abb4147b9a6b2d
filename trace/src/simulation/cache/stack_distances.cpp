// Stack distances with a Fenwick tree over the last uses.
//
// Idea: each use gets the next time 0, 1, 2, ... A bit per time is set if it is the last use of its block so far. The
// stack distance of a block is the number of set bits from its last use on: the distinct blocks used since then,
// itself included. Bits are stored 64 per word, and a Fenwick tree sums the words.
//
// Example: uses A B A. Before the third, bits 0 (A) and 1 (B) are set. until(0) = 1 of 2 blocks, so the distance is 2
// - 1 + 1 = 2: a cache of 2 blocks has a hit. Then bit 0 is cleared and bit 2 is set.
//
// Times grow with every use. When the array is full, compact() renumbers the set bits from 0 and doubles the array if
// more than half of it is in use, so that memory depends on distinct blocks and not on uses.

#include "simulation/cache/stack_distances.hpp"

#include <algorithm>
#include <bit>

#include "base/errors.hpp"

namespace plait::simulation {

namespace {

constexpr std::size_t kTimes = 1 << 12;  // initial capacity for times
constexpr std::size_t kMaxBlocks = std::size_t{1} << 30;

}  // namespace

StackDistances::StackDistances() : keys_(kTimes), words_(kTimes / kBits), sums_(kTimes / kBits + 1) {}

std::uint32_t StackDistances::use(BlockKey key) {
  if (now_ == keys_.size()) compact();
  const Slot last = table_.find(key);
  std::uint32_t distance = 0;
  if (last == kNoSlot) {
    table_.insert(key, now_);
  } else {
    distance = static_cast<std::uint32_t>(table_.size()) - count_until(last) + 1;
    clear(last);
    table_.move(key, now_);
  }
  keys_[now_] = key;
  set(now_++);
  return distance;
}

void StackDistances::remove(BlockKey key) {
  clear(table_.find(key));
  table_.erase(key);
}

void StackDistances::set(std::uint32_t time) {
  words_[time / kBits] |= std::uint64_t{1} << (time % kBits);
  add_to_sums(time / kBits, 1);
}

void StackDistances::clear(std::uint32_t time) {
  words_[time / kBits] &= ~(std::uint64_t{1} << (time % kBits));
  add_to_sums(time / kBits, -1);
}

void StackDistances::add_to_sums(std::uint32_t word, std::int32_t change) {
  for (std::size_t node = word + std::size_t{1}; node < sums_.size(); node += node & (~node + 1))
    sums_[node] += static_cast<std::uint32_t>(change);
}

std::uint32_t StackDistances::count_until(std::uint32_t time) const {
  const std::uint32_t word = time / kBits;
  std::uint32_t sum = 0;
  for (std::size_t node = word; node > 0; node &= node - 1) sum += sums_[node];
  const std::uint64_t bits_until = words_[word] << (kBits - 1 - time % kBits);
  return sum + static_cast<std::uint32_t>(std::popcount(bits_until));
}

void StackDistances::compact() {
  std::uint32_t used_times = 0;
  for (std::uint32_t time = 0; time < now_; ++time) {
    if ((words_[time / kBits] >> (time % kBits) & 1) == 0) continue;
    keys_[used_times] = keys_[time];
    table_.move(keys_[used_times], used_times);
    ++used_times;
  }
  if (2 * std::size_t{used_times} > keys_.size()) {
    if (keys_.size() >= 2 * kMaxBlocks)
      base::throw_argument_error(
          "the trace uses more than 1073741824 blocks, too many to compare all of them; give larger blocks, or "
          "ask for a curve from samples");
    keys_.resize(2 * keys_.size());
  }
  words_.assign(keys_.size() / kBits, 0);
  sums_.assign(words_.size() + 1, 0);
  now_ = used_times;
  for (std::uint32_t time = 0; time < used_times; ++time) words_[time / kBits] |= std::uint64_t{1} << (time % kBits);
  for (std::size_t node = 1; node < sums_.size(); ++node) {
    sums_[node] += static_cast<std::uint32_t>(std::popcount(words_[node - 1]));
    const std::size_t above = node + (node & (~node + 1));
    if (above < sums_.size()) sums_[above] += sums_[node];
  }
}

}  // namespace plait::simulation
