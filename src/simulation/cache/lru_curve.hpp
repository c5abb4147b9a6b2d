/// The misses of LRU in caches of all sizes, from one pass over a trace.
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

/// Which blocks a curve is made of.
struct Sampling {
  double rate = 1;           ///< the share of all blocks, above 0 and at most 1
  std::uint32_t blocks = 0;  ///< at most so many: the rate falls where there are more; 0: no limit
};

/// What is found in caches of `size` blocks and larger ones, but in no smaller one.  Of samples an estimate.
struct Found {
  std::uint64_t size = 0;
  double requests = 0;  ///< all of whose blocks are found; of samples 0
  double blocks = 0;
  double bytes = 0;
};

/// Exact without sampling.  With it, blocks are sampled by a hash of their names, each with all its uses, and distances
/// and numbers are divided by the rate.  Source: C. A. Waldspurger, N. Park, A. Garthwaite and I. Ahmad, "Efficient MRC
/// construction with SHARDS", FAST 2015: fixed rate, and fixed size where Sampling::blocks is given.  Distances from
/// samples are rounded up by less than 1/256.
/// memory   in proportion to the distinct blocks that are in the sample.  threads  one at a time.
class LruCurve {
 public:
  explicit LruCurve(const Sampling& sampling);

  void add(const FileRequest& request, std::int64_t block) {
    cut(request, block, batch_, [this] { flush(); });
  }
  /// A request for one whole block of file 0, of which it uses so many bytes.
  void add(std::uint64_t key, std::int64_t bytes);
  /// Behind the last request.
  void finish() { flush(); }

  /// All that was asked for; `size` is 0.
  const Found& all() const noexcept { return all_; }
  /// What the sample stands for, which is about all of it: what it lacks was mostly asked of few blocks and found, so
  /// misses are this without what is found.  Source: SHARDS-adj, section 4.3 of the paper.  Without sampling all of it.
  const Found& seen() const noexcept { return samples() ? seen_ : all_; }
  /// By size.
  std::vector<Found> found() const;
  /// Whether each request used one block, so that requests are found as blocks are.
  bool single() const noexcept { return single_; }
  /// The rate at the end.
  double rate() const noexcept;
  /// Distinct blocks in the sample.
  std::size_t blocks() const noexcept { return distances_.blocks(); }

 private:
  bool samples() const noexcept { return sampling_.rate < 1 || sampling_.blocks > 0; }
  void flush();
  void count_all(const Use& use, const Piece& piece);
  void count_sample(const Use& use, const Piece& piece);
  /// Lowers the rate until the sample is as small as it has to be.
  void shrink();

  struct Sampled {
    std::uint64_t hash;
    BlockKey key;
    bool operator<(const Sampled& other) const noexcept { return hash < other.hash; }
  };

  Sampling sampling_;
  std::uint64_t threshold_;  // blocks of smaller hashes are in the sample
  StackDistances distances_;
  std::priority_queue<Sampled> sampled_;  // where there is a limit
  Batch batch_;
  std::vector<Found> by_distance_;          // without sampling
  std::map<std::uint64_t, Found> by_size_;  // with it
  std::uint32_t furthest_ = 0;              // distance of the blocks of a request that is not ended
  bool cold_ = false;                       // whether one of them was not used before
  bool begun_ = false;
  bool single_ = true;
  Found all_;
  Found seen_;  // by the sample
};

}  // namespace plait::simulation
