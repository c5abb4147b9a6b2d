/// The ranks of one node: their windows, who waits for what, their cores.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "plan/access/access.hpp"
#include "simulation/access/task.hpp"

namespace plait::simulation {

/// How far the windows of one rank have come; the counters are those of transport::Slot.
struct Windows {
  std::int64_t reader = 0;  ///< whose share they are of
  std::int64_t steps = 0;   ///< that hold anything
  std::int64_t claimed = 0;
  std::array<std::int64_t, plan::kSlots> filled{};
  std::array<std::int64_t, plan::kSlots> taken{};
};

/// Takes work in the order in which it comes.
class Cores {
 public:
  Cores() = default;
  /// With as many cores as ranks nobody waits for one.
  Cores(std::int64_t cores, std::size_t ranks) {
    if (static_cast<std::size_t>(cores) < ranks) free_.assign(static_cast<std::size_t>(cores), 0);
  }
  /// Takes a core for a while, as soon as one is free.  returns  when the work begins
  Time take(Time now, Time work) {
    if (free_.empty()) return now;
    std::ranges::pop_heap(free_, std::greater<>());
    const Time begins = std::max(now, free_.back());
    free_.back() = begins + work;
    std::ranges::push_heap(free_, std::greater<>());
    return begins;
  }

 private:
  std::vector<Time> free_;  // when each is: a heap, the first one on top
};

class Rank;

struct Node {
  std::int64_t number = 0;
  std::vector<Windows> windows;  ///< by rank on the node
  std::vector<Rank*> waiting;    ///< for windows
  Cores cores;
};

}  // namespace plait::simulation
