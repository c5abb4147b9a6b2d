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

/// The hits in caches of `size` blocks or more that smaller caches do not have. With sampling it is an estimate.
struct CurvePoint {
  std::uint64_t size = 0;
  double requests = 0;  ///< requests whose blocks all hit; 0 with sampling
  double blocks = 0;
  double bytes = 0;
};

/// The curve is exact without sampling. With it, blocks are sampled by a hash of their keys, each with all its uses,
/// and distances and counts are divided by the rate. Source: C. A. Waldspurger, N. Park, A. Garthwaite and I. Ahmad,
/// "Efficient MRC construction with SHARDS", FAST 2015: fixed rate, and fixed size if Sampling::blocks is set.
/// Distances from samples are rounded up by less than 1/256.
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
  const CurvePoint& all() const noexcept { return all_; }
  /// Sums that the sample represents, about those of all requests. The difference comes mostly from few blocks with
  /// many hits, so misses are seen() minus found(). Source: SHARDS-adj, section 4.3 of the paper. Without sampling it
  /// equals all().
  const CurvePoint& seen() const noexcept { return samples() ? seen_ : all_; }
  /// The hits in ascending order of sizes.
  std::vector<CurvePoint> found() const;
  /// True if each request used one block, so that hits of requests equal hits of blocks.
  bool single() const noexcept { return single_; }
  /// The sampling rate at the end.
  double rate() const noexcept;
  /// Number of distinct blocks in the sample.
  std::size_t blocks() const noexcept { return distances_.blocks(); }

 private:
  bool samples() const noexcept { return sampling_.rate < 1 || sampling_.blocks > 0; }
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
  std::uint32_t furthest_ = 0;                   // largest distance among the blocks of the current request
  bool cold_ = false;                            // true if a block of the current request was not used before
  bool begun_ = false;
  bool single_ = true;
  CurvePoint all_;
  CurvePoint seen_;  // estimated from the sample
};

}  // namespace plait::simulation
