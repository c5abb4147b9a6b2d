#include "store/objects/bucket/absolute_ranges.hpp"

#include <algorithm>
#include <utility>

namespace plait::store::bucket {

AbsoluteRanges::AbsoluteRanges(std::span<GetRequest> requests,
                               base::FunctionRef<void(std::span<GetRequest>)> get_sizes) {
  std::vector<GetRequest> sizes;
  for (GetRequest& request : requests) {
    if (std::ranges::none_of(request.ranges, [](const ReadSegment& one) { return one.offset < 0; })) continue;
    changed_.push_back(
        {&request, request.ranges, {}, request.options.if_match != nullptr, request.options.if_none_match});
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
    // No object has this tag: if one has appeared since, the read does not meet the condition.
    if (!found.found() && !one.had_condition) one.size.result.identity = {{}, "\"none\""};
    if (!one.had_condition) one.request->options.if_match = &one.size.result.identity;
    one.request->options.if_none_match = nullptr;
    for (ReadSegment& range : one.request->ranges) {
      if (range.offset >= 0) continue;
      range.offset += found.bytes;
      if (range.offset < 0) range.offset = found.bytes;  // outside
    }
  }
}

AbsoluteRanges::~AbsoluteRanges() {
  for (Changed& one : changed_) {
    one.request->ranges = std::move(one.ranges);
    one.request->options.if_none_match = one.if_none_match;
    if (!one.had_condition) one.request->options.if_match = nullptr;
  }
}

bool AbsoluteRanges::is_match(GetRequest& request) const {
  const auto at = std::ranges::find(changed_, &request, &Changed::request);
  if (at == changed_.end() || at->size.result.status != GetStatus::kMatch) return false;
  request.result = at->size.result;
  return true;
}

bool AbsoluteRanges::has_changed(GetRequest& request) const {
  if (request.result.status != GetStatus::kMismatch) return false;
  const auto at = std::ranges::find(changed_, &request, &Changed::request);
  if (at == changed_.end() || at->had_condition) return false;
  if (at->size.result.found()) return true;
  request.result = {at->size.result.status};
  return false;
}

}  // namespace plait::store::bucket
