/// Replays of a few requests, short enough to compute their times by hand. For example, 10 reads with 5 ms of computing
/// between them take 9 · 5 ms + 10 · 10 ms = 145 ms without a cache on the device of make_settings().
#pragma once

#include <cstdint>

#include "simulation/replay/replay.hpp"
#include "trace_in_memory.hpp"

namespace plait_test {

namespace simulation = plait::simulation;

/// Returns a trace that requests each of `count` blocks once per pass. Each request takes 1 ms, and `gap` ms of
/// computing follow.
inline TraceInMemory spaced_requests(int count, double gap, trace::Kind kind, int passes = 1) {
  TraceInMemory events;
  double time = 0;
  for (int pass = 0; pass < passes; ++pass)
    for (int k = 0; k < count; ++k) {
      events.add(1, time, 1, kind, k * kBlock, kBlock);
      time += gap + 1;
    }
  return events;
}

/// Returns settings with a cache of `cache_blocks` blocks and a device that serves one request at a time, in 10 ms
/// each.
inline simulation::ReplaySettings make_settings(std::int64_t cache_blocks) {
  simulation::ReplaySettings settings;
  settings.cache.size = cache_blocks * kBlock;
  settings.device = {"server", {{"service", 0.010}}};
  return settings;
}

inline simulation::ReplayOutcome replay(TraceInMemory events, const simulation::ReplaySettings& settings) {
  simulation::Recording recording;
  recording.add(events);
  return simulation::Replay(recording, settings).run();
}

}  // namespace plait_test
