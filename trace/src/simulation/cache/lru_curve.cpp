// Misses of LRU for every cache size from one pass, exactly or from a sample of the blocks.
//
// Problem: one simulation per cache size takes too long, and exact distances for traces with billions of blocks take
// too much memory.
//
// Idea: a use with stack distance d hits in every LRU cache of at least d blocks, so a histogram of distances is the
// whole curve. A sample contains the blocks whose hash is below a threshold. Because all uses of a block are in the
// sample or none, a distance d within the sample represents about d / rate in the whole trace.
//
// Example: with a rate of 1/100 a sampled use has distance 5. It counts as 100 uses that hit in caches of 500 blocks
// or more. Sizes are rounded up to 256 values between powers of 2: 1001 becomes 1002.

#include "simulation/cache/lru_curve.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random_bits.hpp"

namespace plait::simulation {

namespace {

constexpr std::uint64_t kHashes = std::uint64_t{1} << 32;

/// Hashes evenly to 0 .. kHashes - 1. The hash differs from that of BlockTable; otherwise the sampled blocks would be
/// neighbours in the table.
std::uint64_t hash_block(BlockKey key) {
  return base::mix(key.block + std::uint64_t{key.file} * 0xd1342543de82ef95U + base::kRandomIncrement) >> 32;
}

/// Rounds up to one of 256 values between two powers of 2, so that the number of sizes stays small.
std::uint64_t round_up_size(double value) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(value));
  const int bits = std::max(0, static_cast<int>(std::bit_width(whole)) - 9);
  const std::uint64_t granule = std::uint64_t{1} << bits;
  return (whole + granule - 1) / granule * granule;
}

}  // namespace

LruCurve::LruCurve(const Sampling& sampling)
    : sampling_(sampling),
      threshold_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(sampling.rate * static_cast<double>(kHashes)))) {
}

double LruCurve::rate() const noexcept { return static_cast<double>(threshold_) / static_cast<double>(kHashes); }

void LruCurve::add(std::uint64_t key, std::int64_t bytes) {
  batch_.uses.push_back({{key, 0}, 0, kNever, 0});
  batch_.pieces.push_back({bytes, true});
  if (batch_.uses.size() == kBatch) flush();
}

void LruCurve::flush() {
  for (std::size_t k = 0; k < batch_.uses.size(); ++k) {
    const Piece& piece = batch_.pieces[k];
    has_single_block_requests_ = has_single_block_requests_ && !in_request_ && piece.last;
    in_request_ = !piece.last;
    ++totals_.blocks;
    totals_.bytes += static_cast<double>(piece.bytes);
    totals_.requests += piece.last ? 1 : 0;
    if (is_sampled())
      count_sample(batch_.uses[k], piece);
    else
      count_all(batch_.uses[k], piece);
  }
  clear(batch_);
}

void LruCurve::count_all(const Use& use, const Piece& piece) {
  const std::uint32_t distance = distances_.use(use.key);
  has_cold_block_ = has_cold_block_ || distance == 0;
  max_distance_ = std::max(max_distance_, distance);
  if (distance >= by_distance_.size()) by_distance_.resize(distance + std::size_t{1});
  if (distance > 0) {
    ++by_distance_[distance].blocks;
    by_distance_[distance].bytes += static_cast<double>(piece.bytes);
  }
  if (!piece.last) return;
  if (!has_cold_block_) ++by_distance_[max_distance_].requests;
  has_cold_block_ = false;
  max_distance_ = 0;
}

void LruCurve::count_sample(const Use& use, const Piece& piece) {
  const std::uint64_t hash = hash_block(use.key);
  if (hash >= threshold_) return;
  const double weight = 1 / rate();
  const std::uint32_t distance = distances_.use(use.key);
  represented_.blocks += weight;
  represented_.bytes += weight * static_cast<double>(piece.bytes);
  if (distance > 0) {
    CurvePoint& point = by_size_[round_up_size(distance * weight)];
    point.blocks += weight;
    point.bytes += weight * static_cast<double>(piece.bytes);
  } else if (sampling_.blocks > 0) {
    sampled_.push({hash, use.key});
    shrink();
  }
}

void LruCurve::shrink() {
  if (sampled_.size() <= sampling_.blocks) return;
  threshold_ = std::max<std::uint64_t>(1, sampled_.top().hash);
  while (!sampled_.empty() && sampled_.top().hash >= threshold_) {
    distances_.remove(sampled_.top().key);
    sampled_.pop();
  }
}

std::vector<CurvePoint> LruCurve::points() const {
  std::vector<CurvePoint> all;
  for (std::size_t distance = 1; distance < by_distance_.size(); ++distance) {
    const CurvePoint& point = by_distance_[distance];
    if (point.blocks > 0 || point.requests > 0) all.push_back({distance, point.requests, point.blocks, point.bytes});
  }
  for (const auto& [size, point] : by_size_) all.push_back({size, 0, point.blocks, point.bytes});
  return all;
}

}  // namespace plait::simulation
