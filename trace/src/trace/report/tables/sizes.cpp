// Sizes are counted in bins of powers of two, and one by one for up to kMaxSizes different sizes.

#include "trace/report/tables/sizes.hpp"

#include <algorithm>
#include <bit>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

void SizesAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (!call.is_data()) continue;
    const auto direction = static_cast<std::size_t>(call.direction);
    const auto size = static_cast<std::uint64_t>(call.moved);
    Traffic& bin = bins_[direction][static_cast<std::size_t>(std::bit_width(size))];
    ++bin.count;
    add_saturated(bin.bytes, call.moved);
    SizeFrequencies& frequencies = frequencies_[direction];
    if (frequencies.last >= 0 && frequencies.sizes[static_cast<std::size_t>(frequencies.last)] == call.moved) {
      ++frequencies.counts[static_cast<std::size_t>(frequencies.last)];
      continue;
    }
    if (frequencies.sizes.size() >= kMaxSizes) discard_rare_sizes(frequencies);
    const auto next_index = static_cast<std::uint32_t>(frequencies.sizes.size());
    const std::uint32_t index = frequencies.indices.find_or_insert(size, next_index);
    if (index == next_index) {
      frequencies.sizes.push_back(call.moved);
      frequencies.counts.push_back(0);
    }
    ++frequencies.counts[index];
    frequencies.last = index;
  }
}

void SizesAnalyser::discard_rare_sizes(SizeFrequencies& frequencies) {
  std::vector<std::int64_t> ordered = frequencies.counts;
  const auto middle = ordered.begin() + static_cast<std::ptrdiff_t>(ordered.size() / 2);
  std::nth_element(ordered.begin(), middle, ordered.end());
  SizeFrequencies remaining;
  for (std::size_t index = 0; index < frequencies.sizes.size(); ++index) {
    if (frequencies.counts[index] <= *middle) continue;
    remaining.indices.find_or_insert(static_cast<std::uint64_t>(frequencies.sizes[index]),
                                     static_cast<std::uint32_t>(remaining.sizes.size()));
    remaining.sizes.push_back(frequencies.sizes[index]);
    remaining.counts.push_back(frequencies.counts[index]);
  }
  frequencies = std::move(remaining);
}

void SizesAnalyser::store_results(Report& report) const {
  for (std::size_t direction = 0; direction < 2; ++direction) {
    for (std::size_t bits = 0; bits < bins_[direction].size(); ++bits) {
      if (bins_[direction][bits].count == 0) continue;
      const std::int64_t from = bits == 0 ? 0 : std::int64_t{1} << (bits - 1);
      report.sizes[direction].push_back({from,
                                         bits == 0    ? 1
                                         : bits == 63 ? INT64_MAX
                                                      : 2 * from,
                                         bins_[direction][bits]});
    }
    const SizeFrequencies& frequencies = frequencies_[direction];
    for (std::size_t index = 0; index < frequencies.sizes.size(); ++index)
      report.common.push_back({frequencies.sizes[index], static_cast<int>(direction), frequencies.counts[index]});
  }
  std::stable_sort(report.common.begin(), report.common.end(),
                   [](const CommonSize& a, const CommonSize& b) { return a.count > b.count; });
  if (report.common.size() > kMaxReported) report.common.resize(kMaxReported);
}

}  // namespace plait::trace::report
