/// The hits of requests in a cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "simulation/cache/registry.hpp"
#include "simulation/cache/requests.hpp"

namespace plait::simulation {

/// Sums over all requests.
struct Counts {
  std::int64_t requests = 0;
  std::int64_t hits = 0;  ///< requests whose blocks were all resident when they were used
  std::int64_t blocks = 0;
  std::int64_t block_hits = 0;
  std::int64_t bytes = 0;
  std::int64_t byte_hits = 0;  ///< bytes in resident blocks
};

/// Sends requests to a cache one after the other. A request uses its blocks in the order of their offsets. A block that
/// is not resident enters the cache, for reads and writes alike.
/// memory   in proportion to the cache; if the policy looks ahead, about 100 bytes for each use.
/// threads  one at a time.
class RequestCounter {
 public:
  /// shape     finish() sets shape.processes if the policy needs it.
  /// outcomes  true to record the outcome of each request.
  RequestCounter(const NamedPolicy& policy, const CacheShape& shape, bool outcomes);

  void add(const FileRequest& request) {
    cut(request, shape_.block, batch_, [this] { flush(); });
  }
  /// Adds a request for one whole block of file 0, of which it uses `bytes`.
  void add(std::uint64_t key, std::int64_t bytes) {
    batch_.uses.push_back({{key, 0}, 0, kNever, 0});
    batch_.pieces.push_back({bytes, true});
    if (batch_.uses.size() == kBatch) flush();
  }
  /// Ends the trace; called after the last request.
  void finish();

  const Counts& counts() const noexcept { return counts_; }
  /// The outcome of each request: 1 a hit, 0 a miss.
  std::span<const std::uint8_t> outcomes() const noexcept { return outcomes_; }

 private:
  void flush();
  void count(std::span<const Use> uses, std::span<const Piece> pieces);

  NamedPolicy policy_;
  CacheShape shape_;
  std::unique_ptr<Counter> cache_;  // nullptr: the policy looks ahead, so it starts when the whole trace is known
  Batch batch_;
  Batch whole_trace_;  // used if the policy looks ahead
  std::vector<std::uint8_t> hits_;
  bool records_outcomes_;
  std::vector<std::uint8_t> outcomes_;
  bool request_hits_ = true;  // true if all blocks of the current request so far were hits
  Counts counts_;
};

}  // namespace plait::simulation
