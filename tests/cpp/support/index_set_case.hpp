// Index sets, and lists of their indices that are computed without the library's arithmetic, for comparison.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "plait/index_set.hpp"

namespace oracle {

using plait::Run;

/// A set, and the list of its members, which is computed independently.
struct SetCase {
  IndexSet set;
  Extents list;
};

/// Returns the fields of a set, as `[begin,end) origin+length/stride` and the runs of its pattern.
inline std::string describe(const IndexSet& set) {
  std::ostringstream out;
  out << '[' << set.begin << ',' << set.end << ") " << set.origin << '+' << set.length << '/' << set.stride;
  if (set.pattern)
    for (const IndexSet::PatternRun& run : *set.pattern) out << ' ' << run.begin << '+' << run.length;
  return out.str();
}

/// Returns the number of maximal sequences of consecutive indices in an ascending list.
inline std::int64_t run_count(const Extents& list) {
  std::int64_t runs = 0;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (i == 0 || list[i] != list[i - 1] + 1) ++runs;
  return runs;
}

/// Returns a run for each bit that is set in the mask.
inline std::vector<Run> runs_of_mask(unsigned mask, std::int64_t bits) {
  std::vector<Run> runs;
  for (std::int64_t i = 0; i < bits; ++i)
    if ((mask >> i & 1U) != 0) runs.push_back({i, 1});  // the library joins them
  return runs;
}

/// Returns the x in [begin, end) for which the mask has bit (x - origin) mod bits.
inline Extents list_of_mask(unsigned mask, std::int64_t bits, std::int64_t origin, std::int64_t begin,
                            std::int64_t end) {
  Extents list;
  for (std::int64_t x = begin; x < end; ++x) {
    std::int64_t phase = x - origin;
    while (phase < 0) phase += bits;
    while (phase >= bits) phase -= bits;
    if ((mask >> phase & 1U) != 0) list.push_back(x);
  }
  return list;
}

/// Returns the set of list_of_mask() together with its list.
inline SetCase periodic_case(unsigned mask, std::int64_t bits, std::int64_t origin, std::int64_t begin,
                             std::int64_t end) {
  return {IndexSet::periodic(origin, bits, runs_of_mask(mask, bits), begin, end),
          list_of_mask(mask, bits, origin, begin, end)};
}

/// Compares every function of the set with the list, for x in [-3, max_index + 2].
inline void check_set(const IndexSet& set, const Extents& list, std::int64_t max_index) {
  const auto size = static_cast<std::int64_t>(list.size());
  ASSERT_EQ(list_indices(set), list);
  ASSERT_EQ(set.size(), size);
  ASSERT_EQ(set.empty(), list.empty());
  ASSERT_EQ(set.runs(), run_count(list));
  ASSERT_EQ(set.contiguous(), set.runs() <= 1);
  std::int64_t longest = 0;
  for (std::int64_t i = 0, run = 0; i < size; ++i) {
    run = i > 0 && list[to_size_t(i)] == list[to_size_t(i - 1)] + 1 ? run + 1 : 1;
    longest = std::max(longest, run);
    ASSERT_EQ(set.at(i), list[to_size_t(i)]);
    std::int64_t run_end = list[to_size_t(i)];
    for (std::int64_t j = i; j < size && list[to_size_t(j)] == run_end; ++j) ++run_end;
    ASSERT_EQ(set.run_end(list[to_size_t(i)]), run_end);
  }
  ASSERT_EQ(set.longest_run(), longest);
  for (std::int64_t x = -3; x <= max_index + 2; ++x) {
    const auto lower = std::lower_bound(list.begin(), list.end(), x);
    ASSERT_EQ(set.contains(x), lower != list.end() && *lower == x) << x;
    ASSERT_EQ(set.next(x), lower == list.end() ? set.end : *lower) << x;
    ASSERT_EQ(set.count_below(x), lower - list.begin()) << x;
  }
}

/// Checks the invariants of the fields of a set.
inline void check_invariants(const IndexSet& set) {
  ASSERT_LE(set.origin, set.begin);
  ASSERT_LE(set.begin, set.end);
  ASSERT_EQ(set.contiguous(), set.runs() <= 1);
  ASSERT_LE(set.pattern_runs(), std::max<std::int64_t>(set.runs(), 1));
  if (!set.pattern) return;
  std::int64_t before = 0;
  std::int64_t run_end = 0;
  for (const IndexSet::PatternRun& run : *set.pattern) {
    ASSERT_EQ(run.before, before);
    ASSERT_TRUE(before == 0 ? run.begin == 0 : run.begin > run_end);
    ASSERT_GT(run.length, 0);
    before += run.length;
    run_end = run.begin + run.length;
  }
  ASSERT_GE(set.pattern->size(), 2U);
  ASSERT_EQ(set.length, before);
  // A run may end at the end of the period only if the set has a single period.
  ASSERT_TRUE(run_end < set.stride || (run_end == set.stride && set.end - set.origin <= set.stride));
}

/// Returns sets of every kind with members in [0, 24): empty ones, ranges, blocks, patterns and lists.
inline std::vector<SetCase> cases_of_every_kind() {
  std::vector<SetCase> cases;
  for (const auto& [begin, end] : {std::pair{0, 0}, {0, 24}, {5, 6}, {3, 17}})
    cases.push_back({IndexSet::range(begin, end), list_of_mask(1, 1, 0, begin, end)});
  for (std::int64_t bits = 2; bits <= 6; ++bits)
    for (unsigned mask = 1; mask + 1 < 1U << bits; mask += bits < 5 ? 1 : 3)
      for (const auto& [begin, end] : {std::pair{0, 24}, {2, 19}, {7, 13}})
        cases.push_back(periodic_case(mask, bits, static_cast<std::int64_t>(mask) % 5 - 2, begin, end));
  unsigned random = 12345;  // the state of a linear congruential generator
  for (int n = 0; n < 40; ++n) {
    random = random * 1103515245U + 12345U;
    const unsigned mask = (random >> 7) & 0xFFFFFFU;
    cases.push_back({IndexSet::of_runs(runs_of_mask(mask, 24)), list_of_mask(mask, 24, 0, 0, 24)});
  }
  return cases;
}

}  // namespace oracle
