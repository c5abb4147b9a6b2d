#include "simulation/cache/request_counter.hpp"

#include <algorithm>

#include "simulation/cache/foresight.hpp"

namespace plait::simulation {

RequestCounter::RequestCounter(const NamedPolicy& policy, const CacheShape& shape, bool outcomes)
    : policy_(policy), shape_(shape), hits_(kBatch), keeps_outcomes_(outcomes) {
  batch_.uses.reserve(kBatch);
  batch_.pieces.reserve(kBatch);
  cache_ = policy_.count(shape_);  // made here, so that errors in parameters appear before the trace is read
  if (policy_.kind().foresight != Foresight::kNone) cache_.reset();
}

void RequestCounter::flush() {
  if (cache_ != nullptr) {
    count(batch_.uses, batch_.pieces);
  } else {
    all_.uses.insert(all_.uses.end(), batch_.uses.begin(), batch_.uses.end());
    all_.pieces.insert(all_.pieces.end(), batch_.pieces.begin(), batch_.pieces.end());
  }
  clear(batch_);
}

void RequestCounter::count(std::span<const Use> uses, std::span<const Piece> pieces) {
  cache_->use(uses, hits_);
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const bool hit = hits_[k] != 0;
    counts_.block_hits += hit ? 1 : 0;
    counts_.bytes += pieces[k].bytes;
    counts_.byte_hits += hit ? pieces[k].bytes : 0;
    hit_ = hit_ && hit;
    if (!pieces[k].last) continue;
    ++counts_.requests;
    counts_.hits += hit_ ? 1 : 0;
    if (keeps_outcomes_) outcomes_.push_back(hit_ ? 1 : 0);
    hit_ = true;
  }
  counts_.blocks += static_cast<std::int64_t>(uses.size());
}

void RequestCounter::finish() {
  flush();
  if (cache_ != nullptr) return;
  foresee(all_.uses, policy_.kind().foresight);
  for (const Use& use : all_.uses) shape_.processes = std::max(shape_.processes, use.process + 1);
  cache_ = policy_.count(shape_);
  const std::span<const Use> uses(all_.uses);
  const std::span<const Piece> pieces(all_.pieces);
  for (std::size_t k = 0; k < uses.size(); k += kBatch) {
    const std::size_t some = std::min(kBatch, uses.size() - k);
    count(uses.subspan(k, some), pieces.subspan(k, some));
  }
  clear(all_);
}

}  // namespace plait::simulation
