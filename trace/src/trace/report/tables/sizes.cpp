#include "trace/report/tables/sizes.hpp"

#include <algorithm>
#include <bit>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

void SizesAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (!call.is_data()) continue;
    const auto way = static_cast<std::size_t>(call.direction);
    const auto size = static_cast<std::uint64_t>(call.moved);
    Traffic& bin = bins_[way][static_cast<std::size_t>(std::bit_width(size))];
    ++bin.count;
    grow(bin.bytes, call.moved);
    Common& common = common_[way];
    if (common.last >= 0 && common.sizes[static_cast<std::size_t>(common.last)] == call.moved) {
      ++common.counts[static_cast<std::size_t>(common.last)];
      continue;
    }
    if (common.sizes.size() >= kMax) forget_the_rare(common);
    const auto fresh = static_cast<std::uint32_t>(common.sizes.size());
    const std::uint32_t index = common.indices.get(size, fresh);
    if (index == fresh) {
      common.sizes.push_back(call.moved);
      common.counts.push_back(0);
    }
    ++common.counts[index];
    common.last = index;
  }
}

void SizesAnalyser::forget_the_rare(Common& common) {
  std::vector<std::int64_t> ordered = common.counts;
  const auto middle = ordered.begin() + static_cast<std::ptrdiff_t>(ordered.size() / 2);
  std::nth_element(ordered.begin(), middle, ordered.end());
  Common remaining;
  for (std::size_t at = 0; at < common.sizes.size(); ++at) {
    if (common.counts[at] <= *middle) continue;
    remaining.indices.get(static_cast<std::uint64_t>(common.sizes[at]),
                          static_cast<std::uint32_t>(remaining.sizes.size()));
    remaining.sizes.push_back(common.sizes[at]);
    remaining.counts.push_back(common.counts[at]);
  }
  common = std::move(remaining);
}

void SizesAnalyser::result(Report& report) const {
  for (std::size_t way = 0; way < 2; ++way) {
    for (std::size_t bits = 0; bits < bins_[way].size(); ++bits) {
      if (bins_[way][bits].count == 0) continue;
      const std::int64_t from = bits == 0 ? 0 : std::int64_t{1} << (bits - 1);
      report.sizes[way].push_back({from, bits == 0 ? 1 : bits == 63 ? INT64_MAX : 2 * from, bins_[way][bits]});
    }
    const Common& common = common_[way];
    for (std::size_t at = 0; at < common.sizes.size(); ++at)
      report.common.push_back({common.sizes[at], static_cast<int>(way), common.counts[at]});
  }
  std::stable_sort(report.common.begin(), report.common.end(),
                   [](const CommonSize& a, const CommonSize& b) { return a.count > b.count; });
  if (report.common.size() > kShown) report.common.resize(kShown);
}

}  // namespace plait::trace::report
