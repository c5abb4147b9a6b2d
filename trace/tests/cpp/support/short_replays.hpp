/// Replays of a few requests, short enough to compute their times by hand.
#pragma once

#include <cstdint>

#include "simulation/replay/replay.hpp"
#include "trace_in_memory.hpp"

namespace plait_test {

namespace simulation = plait::simulation;

/// Returns one request for each of `count` blocks in turn, with `gap` ms of computing before each.
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

/// Returns settings with a device that takes 10 ms for each request, one after the other.
inline simulation::ReplaySettings make_settings(std::int64_t blocks) {
  simulation::ReplaySettings settings;
  settings.cache.size = blocks * kBlock;
  settings.device = {"server", {{"service", 0.010}}};
  return settings;
}

inline simulation::ReplayOutcome replay(TraceInMemory events, const simulation::ReplaySettings& settings) {
  simulation::Recording recording;
  recording.add(events);
  return simulation::Replay(recording, settings).run();
}

}  // namespace plait_test
