// The contiguous runs of a local array within the linear order of the whole array.
//
// Idea: the dimensions are added from the fastest to the slowest one. The state is the number and maximum length of the
// runs of the faster dimensions, and the lengths of the runs that touch the beginning (`head`) and the end (`tail`) of
// their positions: the tail at one index and the head at the next index form one run.
//
// Example: shape (4, 6) in C order, rows 0, 1 and columns 0, 5. The columns alone have 2 runs of 1, head = 1 and tail
// = 1. The two rows have 2 * 2 runs, of which one pair are_joined: the element at 5 and the one at 6. So there are 3
// runs, and the longest one has 2 elements.

#include "layout/index_set/linear_runs.hpp"

#include <algorithm>

namespace plait::layout {

namespace {

/// Returns the first index of the run that ends with the last member.
std::int64_t last_run_begin(const IndexSet& set) {
  // In that run the distance of members from the last one equals the distance of their positions.
  const std::int64_t members = set.size();
  const std::int64_t last = set.at(members - 1);
  std::int64_t lo = 0;
  std::int64_t hi = members - 1;
  while (lo < hi) {
    const std::int64_t middle = lo + (hi - lo) / 2;
    if (last - set.at(middle) == members - 1 - middle) {
      hi = middle;
    } else {
      lo = middle + 1;
    }
  }
  return set.at(lo);
}

}  // namespace

LinearRuns find_linear_runs(std::span<const IndexSet> sets, const Extents& shape, std::span<const int> order) {
  // State of the faster dimensions: the number of their positions, the owned positions at the beginning and at the end,
  // and the runs.
  std::int64_t positions = 1;
  std::int64_t head = 1;
  std::int64_t tail = 1;
  LinearRuns runs{1, 1};
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    const IndexSet& set = sets[static_cast<std::size_t>(*d)];
    const std::int64_t extent = shape[static_cast<std::size_t>(*d)];
    const std::int64_t members = set.size();
    if (members == 0) return {};
    const std::int64_t first = set.at(0);
    const std::int64_t last = set.at(members - 1);
    if (head == positions) {  // each index is a contiguous run
      const std::int64_t first_length = first == 0 ? set.run_end(0) : 0;
      const std::int64_t last_length = last == extent - 1 ? last + 1 - last_run_begin(set) : 0;
      runs = {set.runs(), positions * set.longest_run()};
      head = positions * first_length;
      tail = positions * last_length;
    } else {
      const bool are_joined = head > 0 && tail > 0;
      runs.count = members * runs.count - (are_joined ? members - set.runs() : 0);
      if (are_joined && set.longest_run() > 1) runs.longest = std::max(runs.longest, tail + head);
      if (first != 0) head = 0;
      if (last != extent - 1) tail = 0;
    }
    positions *= extent;
  }
  return runs;
}

}  // namespace plait::layout
