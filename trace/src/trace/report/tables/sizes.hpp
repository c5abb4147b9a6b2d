/// The sizes of requests.
#pragma once

#include <array>
#include <vector>

#include "trace/report/call.hpp"
#include "trace/report/flat_map.hpp"

namespace plait::trace::report {

/// Bins of powers of two, and the most frequent sizes. If there are more than kMaxSizes different sizes in one
/// direction, the rarest are discarded; the count of a size that was rare for long is then a lower bound.
/// memory  kMaxSizes different sizes for each direction.
class SizesAnalyser final : public Analyser {
 public:
  static constexpr std::size_t kMaxSizes = std::size_t{1} << 16;
  static constexpr std::size_t kMaxReported = 8;

  void add(std::span<const Call> calls) override;
  void store_results(Report& report) const override;

 private:
  struct SizeFrequencies {
    FlatMap indices;  // index of each size in the two vectors below
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> counts;
    std::int64_t last = -1;  // index of the last size
  };
  static void discard_rare_sizes(SizeFrequencies& frequencies);

  std::array<std::array<Traffic, 65>, 2> bins_{};  // index: number of bits of the size
  std::array<SizeFrequencies, 2> frequencies_;
};

}  // namespace plait::trace::report
