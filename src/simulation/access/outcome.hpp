/// What came out of a simulated access.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulation/devices/device.hpp"
#include "simulation/replay/outcome.hpp"

namespace plait::simulation {

/// What a rank does with its time.
enum class Phase : std::uint8_t {
  kPlan,      ///< makes the plan, works out messages
  kFile,      ///< asks the file system
  kExchange,  ///< waits for messages
  kCopy,      ///< copies between windows, messages and its array
  kWaiting,   ///< waits for others: for windows, for a core, for agreement
};
constexpr std::size_t kPhases = 5;

struct RankOutcome {
  std::array<Time, kPhases> times{};
  std::int64_t requests = 0;  ///< of the file system
  std::int64_t bytes = 0;     ///< of these
  std::int64_t sent = 0;      ///< messages
  std::int64_t sent_bytes = 0;
  std::int64_t received = 0;
  std::int64_t received_bytes = 0;
};

/// What went from one node to another; the number of nodes stands for the file system.
struct LinkUse {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t messages = 0;  ///< or requests
  std::int64_t bytes = 0;
};

struct AccessOutcome {
  Time elapsed = 0;  ///< until the last rank returns
  Time drained = 0;  ///< until what was written is on the device
  std::int64_t nodes = 1;
  std::int64_t windows = 0;    ///< of the longest share
  std::int64_t simulated = 0;  ///< of these
  bool whole_steps = false;    ///< the exchange of a step was taken as a whole: see SimulatedAccess
  std::vector<RankOutcome> ranks;
  std::vector<LinkUse> links;  ///< by both nodes, ascending
  std::vector<DeviceUse> devices;
  std::array<TimeSeries, kPhases> series;  ///< ns of all ranks together
};

}  // namespace plait::simulation
