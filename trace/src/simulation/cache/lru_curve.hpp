/// The misses of LRU caches of all sizes, from one pass over a trace.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "simulation/cache/requests.hpp"
#include "simulation/cache/stack_distances.hpp"

namespace plait::simulation {

/// Selects the blocks that form the curve.
struct Sampling {
  double rate = 1;           ///< fraction of all blocks, above 0 and at most 1
  std::uint32_t blocks = 0;  ///< maximum number of sampled blocks, above which the rate falls; 0: no limit
};

/// The hits in caches of `size` blocks or more that smaller caches do not have. With sampling they are an estimate.
struct CurvePoint {
  std::uint64_t size = 0;
  double requests = 0;  ///< requests whose blocks all hit; 0 with sampling
  double blocks = 0;
  double bytes = 0;
};

/// Counts the hits of LRU caches by their size. The curve is exact without sampling. With sampling, a hash of its key
/// decides whether a block is in the sample, with all its uses, and distances and counts are divided by the rate.
/// Source: C. A. Waldspurger, N. Park, A. Garthwaite and I. Ahmad, "Efficient MRC construction with SHARDS", FAST 2015:
/// fixed rate, and fixed size if Sampling::blocks is set. Distances from samples are rounded up by less than 1/256.
/// memory   in proportion to the distinct blocks in the sample.
/// threads  one at a time.
class LruCurve {
 public:
  explicit LruCurve(const Sampling& sampling);

  void add(const FileRequest& request, std::int64_t block) {
    cut(request, block, batch_, [this] { flush(); });
  }
  /// Adds a request for one whole block of file 0, of which it uses `bytes`.
  void add(std::uint64_t key, std::int64_t bytes);
  /// Ends the trace; called after the last request.
  void finish() { flush(); }

  /// Sums over all requests; `size` is 0.
  const CurvePoint& totals() const noexcept { return totals_; }
  /// The uses that the sample represents, its own divided by the rate. They differ from totals() mostly because of a
  /// few blocks with many hits, which the sample contains or not. Misses are therefore represented() minus the sum of
  /// points(). Source: SHARDS-adj, section 4.3 of the paper. Without sampling equal to totals().
  const CurvePoint& represented() const noexcept { return is_sampled() ? represented_ : totals_; }
  /// The points of the curve in ascending order of sizes.
  std::vector<CurvePoint> points() const;
  /// True if each request used one block, so that hits of requests equal hits of blocks.
  bool has_single_block_requests() const noexcept { return has_single_block_requests_; }
  /// The sampling rate at the end.
  double rate() const noexcept;
  /// Number of distinct blocks in the sample.
  std::size_t blocks() const noexcept { return distances_.blocks(); }

 private:
  bool is_sampled() const noexcept { return sampling_.rate < 1 || sampling_.blocks > 0; }
  void flush();
  void count_all(const Use& use, const Piece& piece);
  void count_sample(const Use& use, const Piece& piece);
  /// Lowers the rate until the sample is within its limit.
  void shrink();

  struct SampledBlock {
    std::uint64_t hash;
    BlockKey key;
    bool operator<(const SampledBlock& other) const noexcept { return hash < other.hash; }
  };

  Sampling sampling_;
  std::uint64_t threshold_;  // the sample contains the blocks with smaller hashes
  StackDistances distances_;
  std::priority_queue<SampledBlock> sampled_;  // used if the sample has a limit
  Batch batch_;
  std::vector<CurvePoint> by_distance_;          // used without sampling
  std::map<std::uint64_t, CurvePoint> by_size_;  // used with sampling
  std::uint32_t max_distance_ = 0;               // largest distance among the blocks of the current request
  bool has_cold_block_ = false;                  // true if a block of the current request was not used before
  bool in_request_ = false;                      // true after a block that is not the last of its request
  bool has_single_block_requests_ = true;
  CurvePoint totals_;
  CurvePoint represented_;  // uses in the sample divided by the rate
};

}  // namespace plait::simulation
