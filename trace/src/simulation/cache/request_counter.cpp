// Counts hits while the trace is read. If the policy looks ahead, all uses are collected first and counted in finish().

#include "simulation/cache/request_counter.hpp"

#include <algorithm>

#include "simulation/cache/foresight.hpp"

namespace plait::simulation {

RequestCounter::RequestCounter(const NamedPolicy& policy, const CacheShape& shape, bool outcomes)
    : policy_(policy), shape_(shape), hits_(kBatch), records_outcomes_(outcomes) {
  batch_.uses.reserve(kBatch);
  batch_.pieces.reserve(kBatch);
  cache_ = policy_.count(shape_);  // made here, so that wrong parameters are reported before the trace is read
  if (policy_.kind().foresight != Foresight::kNone) cache_.reset();
}

void RequestCounter::flush() {
  if (cache_ != nullptr) {
    count(batch_.uses, batch_.pieces);
  } else {
    whole_trace_.uses.insert(whole_trace_.uses.end(), batch_.uses.begin(), batch_.uses.end());
    whole_trace_.pieces.insert(whole_trace_.pieces.end(), batch_.pieces.begin(), batch_.pieces.end());
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
    request_hits_ = request_hits_ && hit;
    if (!pieces[k].last) continue;
    ++counts_.requests;
    counts_.hits += request_hits_ ? 1 : 0;
    if (records_outcomes_) outcomes_.push_back(request_hits_ ? 1 : 0);
    request_hits_ = true;
  }
  counts_.blocks += static_cast<std::int64_t>(uses.size());
}

void RequestCounter::finish() {
  flush();
  if (cache_ != nullptr) return;
  add_foresight(whole_trace_.uses, policy_.kind().foresight);
  for (const Use& use : whole_trace_.uses) shape_.processes = std::max(shape_.processes, use.process + 1);
  cache_ = policy_.count(shape_);
  const std::span<const Use> uses(whole_trace_.uses);
  const std::span<const Piece> pieces(whole_trace_.pieces);
  for (std::size_t k = 0; k < uses.size(); k += kBatch) {
    const std::size_t count_in_batch = std::min(kBatch, uses.size() - k);
    count(uses.subspan(k, count_in_batch), pieces.subspan(k, count_in_batch));
  }
  clear(whole_trace_);
}

}  // namespace plait::simulation
