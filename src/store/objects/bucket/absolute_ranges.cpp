#include "store/objects/bucket/absolute_ranges.hpp"

#include <algorithm>
#include <utility>

namespace plait::store::bucket {

AbsoluteRanges::AbsoluteRanges(std::span<GetRequest> requests,
                               base::FunctionRef<void(std::span<GetRequest>)> get_sizes) {
  std::vector<GetRequest> sizes;
  for (GetRequest& request : requests) {
    if (std::ranges::none_of(request.ranges, [](const ReadSegment& one) { return one.offset < 0; })) continue;
    changed_.push_back({&request, request.ranges, {}, request.options.if_match != nullptr});
    GetRequest& size = sizes.emplace_back();
    size.object = request.object;
    size.options = request.options;
    size.options.identity = true;
  }
  if (sizes.empty()) return;
  get_sizes(sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) changed_[i].size = std::move(sizes[i]);
  for (Changed& one : changed_) {
    const GetResult& found = one.size.result;
    // A read of an object that is missing, or that does not meet a condition, finds that by itself.
    for (ReadSegment& range : one.request->ranges) {
      if (range.offset >= 0) continue;
      range.offset += found.bytes;
      if (range.offset < 0) range.offset = found.bytes;  // outside
    }
    if (found.found() && !one.had_condition) one.request->options.if_match = &one.size.result.identity;
  }
}

AbsoluteRanges::~AbsoluteRanges() {
  for (Changed& one : changed_) {
    one.request->ranges = std::move(one.ranges);
    if (!one.had_condition) one.request->options.if_match = nullptr;
  }
}

bool AbsoluteRanges::has_changed(const GetRequest& request) const {
  if (request.result.status != GetStatus::kMismatch) return false;
  return std::ranges::any_of(changed_,
                             [&](const Changed& one) { return one.request == &request && !one.had_condition; });
}

}  // namespace plait::store::bucket
