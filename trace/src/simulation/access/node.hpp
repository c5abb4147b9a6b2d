/// The ranks of one node: their windows, their waiting ranks, their cores.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "plan/access/access_plan.hpp"
#include "simulation/access/task.hpp"

namespace plait::simulation {

/// The progress of the windows of one reader: a rank whose share of the file passes through memory in windows, of which
/// kSlots are in memory at once. Window w uses slot w % kSlots. The counters have the meaning of those in
/// transport::Slot: when reading, `filled` counts windows read from the file and `taken` counts copies out of them;
/// when writing, `filled` counts copies into windows and `taken` counts windows written to the file.
struct Windows {
  std::int64_t reader = 0;        ///< index of the reader among all readers
  std::int64_t window_count = 0;  ///< number of windows that are not empty
  std::int64_t claimed = 0;       ///< number of windows that a rank has begun to read or write
  std::array<std::int64_t, plan::kSlots> filled{};
  std::array<std::int64_t, plan::kSlots> taken{};
};

/// The cores of a node. They start pieces of work in the order in which these arrive.
class Cores {
 public:
  Cores() = default;
  /// No rank waits for a core if there are at least as many cores as ranks.
  Cores(std::int64_t cores, std::size_t ranks) {
    if (static_cast<std::size_t>(cores) < ranks) free_.assign(static_cast<std::size_t>(cores), 0);
  }
  /// Occupies the first core that is free for the time `work`.
  /// returns  the time at which the work begins
  Time take(Time now, Time work) {
    if (free_.empty()) return now;
    std::ranges::pop_heap(free_, std::greater<>());
    const Time begins = std::max(now, free_.back());
    free_.back() = begins + work;
    std::ranges::push_heap(free_, std::greater<>());
    return begins;
  }

 private:
  std::vector<Time> free_;  // times at which the cores become free: a heap with the earliest on top
};

class Rank;

struct Node {
  std::int64_t number = 0;
  std::vector<Windows> windows;  ///< one entry for each rank on the node
  std::vector<Rank*> waiting;    ///< ranks that wait for windows
  Cores cores;
};

}  // namespace plait::simulation
